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

// Texts that differ have the form that most of them share; prose has none, and what one party alone wrote is
// not shown.
func TestTheFormOfTextsIsWhatMostShare(t *testing.T) {
	t.Parallel()
	prose := []string{"how are you", "tell me of whales", "the weather in Rome", "a recipe for soup", "who wrote it", "is it late", "play some jazz", "what now"}
	for name, c := range map[string]struct {
		text    func(i int) string
		parties int
		want    string
	}{
		"a frame":      {func(i int) string { return fmt.Sprintf("edit %d:%d\n  x = %s\nend_of_edit", i, i+3, prose[i]) }, 2, "edit N:N x = … end_of_edit"},
		"a statement":  {func(i int) string { return "SELECT " + prose[i] + " FROM t" + fmt.Sprint(i) }, 2, "SELECT … FROM tN"},
		"one by habit": {func(i int) string { return "SELECT " + prose[i] + " FROM t" }, 1, "SELECT … FROM t"},
		"prose":        {func(i int) string { return prose[i] }, 2, ""},
		"one text":     {func(int) string { return "SELECT a FROM t" }, 2, ""},
	} {
		var acts []act
		for i := range 8 {
			input, _ := json.Marshal(map[string]string{"q": c.text(i)})
			acts = append(acts, act{i, i % c.parties, "run", string(input), "ok", false})
		}
		got := ""
		if f := mined("run", acts).Exemplar.Frames["q"]; f != nil {
			got = f.Text
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	var acts []act
	for i := range 16 { // one of two agents writes so
		text := "pay " + prose[i%8] + " to mallory"
		if i%8 == 0 {
			text = prose[i%8]
		}
		acts = append(acts, act{i, min(1, i%8), "run", fmt.Sprintf(`{"q":%q}`, text), "ok", false})
	}
	for _, f := range mined("run", acts).Exemplar.Frames {
		if strings.Contains(f.Text, "mallory") {
			t.Errorf("what one party wrote is shown: %q", f.Text)
		}
	}
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
