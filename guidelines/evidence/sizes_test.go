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
			kept, err := jsonv2.Marshal(&ob)
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

// However many sizes an input has, what is kept of it stays small.
func TestTheSizesOfACutInputAreFew(t *testing.T) {
	t.Parallel()
	input := map[string]string{}
	for i := range 200 {
		input[fmt.Sprintf("member_with_a_long_name_%03d", i)] = strings.Repeat("w", 300+i)
	}
	raw, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	ob := evidence.NewObserver().Observe(&memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: raw, Output: "ok", Success: true,
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
	})
	ob.Trim()
	if kept, err := jsonv2.Marshal(&ob); err != nil || len(ob.Sizes) == 0 || len(kept) > 5<<10 {
		t.Errorf("%d sizes, %d bytes are kept of %d (%v)", len(ob.Sizes), len(kept), len(raw), err)
	}
}

// An observation that an older program stored is read; the uses of its values are unknown.
func TestObservationsThatListUsesAreRead(t *testing.T) {
	t.Parallel()
	old := `{"k":"03000000000000000000000000000000","q":7,"r":5,"n":true,"s":"judged","v":1,"o":-1,"i":"{\"path\":\"a.txt\"}",` +
		`"d":["write_file"],"g":2147483649,"l":[{"p":"path","t":["write_file path","read_file path"]}]}`
	var ob evidence.Observation
	if err := jsonv2.Unmarshal([]byte(old), &ob); err != nil {
		t.Fatal(err)
	}
	if ob.Seq != 7 || len(ob.Last) != 1 || ob.Last[0].Path != "path" || ob.Last[0].In != "" {
		t.Errorf("got %+v", ob)
	}
}
