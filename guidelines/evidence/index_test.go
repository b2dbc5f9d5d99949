package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// A slide or a table is named by its place among those that the run made. How many it may be differs from run to run.
func TestAnIndexIsHeldAgainstTheCallsThatMadeWhatItCounts(t *testing.T) {
	t.Parallel()
	for first, tool := range []string{"add_slide", "newSlide"} { // counted from 0, and from 1
		want := []string{"Keep `slide_index`, from 0, below the number of `add_slide` calls in the run", "Keep `slide_index` at most the number of `newSlide` calls in the run"}[first]
		var calls []memoryd.Call
		call := func(run int, tool, input, output string, score float64) {
			calls = append(calls, recorded(len(calls), run, tool, input, output, score))
		}
		for i := range 20 {
			slides := 1 + i%5
			for range slides {
				call(i, "add_shape", `{"kind":"box"}`, "added", 1)
				call(i, tool, `{"layout":1}`, "added", 1) // as often
			}
			call(i, tool, `{"layout":"none"}`, "no such layout", 0) // makes none
			for at := range slides {
				call(i, "set_title", fmt.Sprintf(`{"slide_index":%d}`, at+first), "done", 1)
			}
			if i%2 == 0 {
				call(i, "set_title", fmt.Sprintf(`{"slide_index":%d}`, slides+first), "no such slide", 0)
			}
		}
		obs := slices.DeleteFunc(evidence.Merge(nil, calls), func(ob evidence.Observation) bool { return ob.Tool != "set_title" })
		found := evidence.Mine("set_title", obs, nil).Rules
		if len(found) != 1 || found[0].Line != want {
			t.Fatalf("%+v, want %q", found, want)
		}
		raw, err := json.Marshal(found[0])
		if err != nil {
			t.Fatal(err)
		}
		var kept rules.Rule
		if err := json.Unmarshal(raw, &kept); err != nil {
			t.Fatal(err)
		}
		for index, breaks := range map[int]bool{0 + first: false, 1 + first: false, 2 + first: true} {
			c := rules.Call{Input: fmt.Appendf(nil, `{"slide_index":%d}`, index), Named: true, Seen: rules.Seen{Before: []string{tool}, Counts: []uint8{2}}}
			if kept.Holds(rules.Plan(&c)) != breaks {
				t.Errorf("after two slides, %d is told: %t", index, !breaks)
			}
			if c.Named, c.Before, c.Counts = false, nil, nil; kept.Holds(rules.Plan(&c)) {
				t.Errorf("%d is told where nothing is known of the run", index)
			}
		}
		most := rules.Call{Input: []byte(`{"slide_index":300}`), Named: true, Seen: rules.Seen{Before: []string{tool}, Counts: []uint8{255}}}
		if kept.Holds(rules.Plan(&most)) {
			t.Error("300 is told after 255 slides or more")
		}
	}
}

func TestMoreCallsThanFitAreCountedAsTheMost(t *testing.T) {
	t.Parallel()
	o, ob := evidence.NewObserver(), evidence.Observation{}
	for range 300 {
		ob = o.Observe(&memoryd.Call{
			ToolRef: memoryd.ToolRef{Tool: "add"}, Success: true, Metadata: []byte(`{"trajectory_id":"r"}`),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
		})
	}
	if len(ob.Counts) != 1 || ob.Counts[0] != 255 {
		t.Errorf("%d", ob.Counts)
	}
}
