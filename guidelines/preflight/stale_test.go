package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// browser shows pages whose elements have names that a snapshot gives; the next snapshot gives others, and
// another page has none of them.
type browser struct {
	r        *rand.Rand
	elements []string // that can be clicked
	seen     []string // of all snapshots
}

func (b *browser) call(tool, element string) (output string, ok bool) {
	switch tool {
	case "open_page":
		b.elements = nil
	case "snapshot":
		b.elements = nil
		for range 4 {
			b.elements = append(b.elements, fmt.Sprintf("e%d", 100+b.r.IntN(900)))
		}
		b.seen = append(b.seen, b.elements...)
		return fmt.Sprintf("- button [ref=%s]\n- link [ref=%s]\n- text [ref=%s]\n- link [ref=%s]", b.elements[0], b.elements[1], b.elements[2], b.elements[3]), true
	case "click":
		if !slices.Contains(b.elements, element) {
			return "cannot click on this", false
		}
	}
	return "done", true
}

// browsed are the calls of agents in many runs, and what was observed of them.
func browsed(t *testing.T) (calls []memoryd.Call, obs []evidence.Observation) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 21)) //nolint:gosec // no secret
	o := evidence.NewObserver()
	n := 0
	for run := range 40 {
		b := &browser{r: r}
		for _, tool := range append([]string{"open_page", "snapshot"}, picked(r, 24)...) {
			n++
			input := `{}`
			element := ""
			if tool == "click" {
				if element = b.seen[r.IntN(len(b.seen))]; len(b.elements) > 0 && r.IntN(3) > 0 {
					element = b.elements[r.IntN(len(b.elements))]
				}
				input = fmt.Sprintf(`{"ref":%q}`, element)
			}
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Key: memoryd.CallKey{byte(n), byte(n >> 8), 3}, Seq: int64(n),
				Input: json.RawMessage(input), TokenCost: -1, Time: time.Date(2027, 3, 1, 8, 0, 20*n, 0, time.UTC),
				Metadata:   fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, run, run%3),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged},
			}
			if c.Output, c.Success = b.call(tool, element); c.Success {
				c.Evaluation.Score = memoryd.ScoreSuccess
			}
			ob := o.Observe(&c)
			ob.Trim()
			if ob = stored(t, ob); tool == "click" {
				calls, obs = append(calls, c), append(obs, ob)
			}
		}
	}
	return calls, obs
}

func picked(r *rand.Rand, n int) (tools []string) {
	for range n {
		tools = append(tools, []string{"click", "click", "click", "open_page", "snapshot", "snapshot", "note"}[r.IntN(7)])
	}
	return tools
}

func TestWhatIsNoLongerTrueIsToBeAskedForAgain(t *testing.T) {
	t.Parallel()
	calls, obs := browsed(t)
	found, hints := evidence.RulesAndHints("click", obs)
	said := ""
	for i := range found {
		said += found[i].Line + "\n"
	}
	for _, want := range []string{"Call `snapshot` first, after each `open_page`\n", "Copy `ref` from the newest answer of `snapshot`\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("got %q, want %q", said, want)
		}
	}
	m := preflight.Learn(evidence.Merge(nil, calls), preflight.Options{Tool: "click", FalseAlarms: 0.05, Tested: found, Hints: hints})
	for _, tc := range []struct {
		done []string // a snapshot shows the elements after its colon
		want bool
	}{
		{[]string{"open_page", "snapshot:e1234"}, false},
		{[]string{"snapshot:e1234", "open_page"}, true},
		{[]string{"open_page", "snapshot:e1234", "note"}, false},
		{[]string{"open_page", "snapshot:e1234", "snapshot:e4321"}, true},
		{[]string{"open_page", "snapshot:e4321", "snapshot:e1234"}, false},
		{[]string{"snapshot:e1234", "open_page", "snapshot:e1234"}, false},
	} {
		var run []store.RunCall
		now := time.Date(2027, 4, 1, 8, 0, 0, 0, time.UTC)
		for i, d := range tc.done {
			tool, shows, _ := strings.Cut(d, ":")
			run = append([]store.RunCall{{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Key: memoryd.CallKey{byte(i), 77}, Time: now, //nolint:gosec // small
				Input: json.RawMessage(`{}`), Output: "- link [ref=" + shows + "]", Success: true, State: memoryd.Judged, Score: 1,
			}}, run...)
		}
		a := m.Assess(preflight.Planned{Input: json.RawMessage(`{"ref":"e1234"}`), Run: "new", RunCalls: run, Now: now})
		if (len(a.Warnings) > 0) != tc.want {
			t.Errorf("after %v: warned %v, want %v", tc.done, a.Warnings, tc.want)
		}
	}
}
