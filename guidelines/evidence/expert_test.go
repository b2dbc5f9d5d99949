package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// act is a call of a run, made by an agent.
type act struct {
	run, agent          int
	tool, input, output string
	bad                 bool
}

// mined is the evidence of a tool from calls of several.
func mined(tool string, acts []act) evidence.Evidence {
	o := evidence.NewObserver()
	var obs []evidence.Observation
	for i, a := range acts {
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: a.tool}, Key: memoryd.CallKey{byte(i), byte(i >> 8), 5}, Seq: int64(i + 1), Success: !a.bad,
			Input: json.RawMessage(a.input), Output: a.output, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
			Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, a.run, a.agent),
		}
		if a.bad {
			c.Evaluation.Score = 0
		}
		if ob := o.Observe(&c); a.tool == tool {
			obs = append(obs, ob)
		}
	}
	return evidence.Mine(tool, obs, nil)
}

// What runs called before a tool, or that most of them called it first.
func TestWhenRunsCallATool(t *testing.T) {
	t.Parallel()
	var acts []act
	for i := range 8 {
		acts = append(acts, act{i, 0, "list", `{}`, "there are some", false}, act{i, 0, "get", fmt.Sprintf(`{"key":"k%d"}`, i), "a value", false})
	}
	e := mined("get", acts)
	if o := e.Order; o.After != "list" || o.Before != 8 || o.Runs != 8 || o.First != 0 {
		t.Errorf("order: %+v", o)
	}
	if o := mined("list", acts).Order; o.First != 8 {
		t.Errorf("order of the first: %+v", o)
	}
}

// The line that tells why may stand after the first one: it is shown where no rule tells more.
func TestAMessageGoesOnToTheLineThatTells(t *testing.T) {
	t.Parallel()
	var acts []act
	for i := range 6 {
		branch := []string{"main", "dev"}[i%2]
		acts = append(acts, act{i, 0, "checkout", fmt.Sprintf(`{"branch":%q}`, branch), "Command 'git' failed due to: exit code(1)\n  cmdline: git checkout " + branch +
			"\n  stderr: 'error: Your local changes would be overwritten:\n\tfile" + fmt.Sprint(i) + "\nPlease commit them.'", true}, act{i, 0, "checkout", fmt.Sprintf(`{"branch":%q}`, branch), "switched", false})
	}
	for _, m := range mined("checkout", acts).Messages {
		if !strings.Contains(m.Text, "error: Your local changes would be overwritten:") {
			t.Errorf("got %q", m.Text)
		}
	}
}
