package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"

	jsonv2 "github.com/go-json-experiment/json"
)

// The window cuts long inputs, and their sizes stay known: of a list with more elements than are
// kept, and of a text that is longer.
func TestSizesOfCutInputsBecomeRules(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		line  string
		input func(n int) string
	}{
		{"Give at most 31 elements in `to`", func(n int) string {
			return `{"to":["` + strings.Repeat(`user@host.example","`, n) + `last"]}`
		}},
		{"Keep `body` at most 548 characters long", func(n int) string { return `{"body":"` + strings.Repeat("wörter und sätze. ", n) + `zwei xyz"}` }},
	} {
		o := evidence.NewObserver()
		var obs []evidence.Observation
		for i := range 60 {
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(i), 8}, Seq: int64(i),
				Input: json.RawMessage(tc.input(1 + i*7%29)), Output: `{"ok":true}`, Success: true,
				Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i/7), Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
			}
			if i == 1 {
				c.Input = json.RawMessage(tc.input(30))
			}
			if i%4 == 3 {
				c.Input, c.Output, c.Success, c.Evaluation.Score = json.RawMessage(tc.input(36+i%9)), "E17", false, 0
			}
			ob := o.Observe(&c)
			ob.Trim()
			kept, err := json.Marshal(ob)
			if err != nil || jsonv2.Unmarshal(kept, &ob) != nil {
				t.Fatal(err)
			}
			obs = append(obs, ob)
		}
		found := evidence.Rules("t", obs)
		if len(found) != 1 || !strings.HasPrefix(found[0].Line, tc.line) {
			t.Errorf("want %q, got %d rules", tc.line, len(found))
			for i := range found {
				t.Log(found[i].Line)
			}
		}
	}
}
