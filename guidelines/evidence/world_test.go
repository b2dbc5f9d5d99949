package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

func TestAValueIsStrangeThatNoGoodCallOfTheWorkspaceUsedOrShowed(t *testing.T) {
	world := evidence.NewWorld()
	reader, n := evidence.NewObserver().Teach(world), 0
	call := func(o *evidence.Observer, run, input, output string, score float64) []string {
		n++
		ob := o.Observe(&memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(n)}, Success: true, Input: json.RawMessage(input), Output: output,
			Metadata:   fmt.Appendf(nil, `{"trajectory_id":%q}`, run),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
		})
		return ob.Strange
	}
	planned := func(input string) []string { return call(evidence.NewObserver().In(world), "later", input, "", 1) }
	call(reader, "a", `{"name":"alpha","note":"two words"}`, `{"pad":"pad-17"}`, 1)
	call(reader, "a", `{"name":"gone","pad":"pad-99"}`, `{"error":"pad-99 does not exist, pad-98 does"}`, 0)
	for input, want := range map[string][]string{
		`{"name":"alpha"}`:                        nil,       // used
		`{"pad":"pad-17"}`:                        nil,       // shown
		`{"pad":"pad-99"}`:                        {"pad"},   // used and shown by a bad call alone
		`{"pad":"pad-98"}`:                        {"pad"},   // shown by a bad call
		`{"name":"Alpha","pad":"pad-17"}`:         {"name"},  // written otherwise
		`{"a":["x-1","x-2"],"on":"2026-11-30"}`:   {"a[]"},   // of a list once; a date names nothing
		`{"text":"two other words","n":12345678}`: nil,       // may be anything
		`{"in":{"id":"b-1"}}`:                     {"in.id"}, // deep down
	} {
		for range 2 { // a call that is planned teaches nothing
			if got := planned(input); !slices.Equal(got, want) {
				t.Errorf("%s: %q, want %q", input, got, want)
			}
		}
	}
	if got := call(reader, "b", `{"pad":"pad-20"}`, "", 1); len(got) != 1 {
		t.Errorf("the first call with a value: %q", got)
	}
	if got := call(reader, "c", `{"pad":"pad-20"}`, "", 1); got != nil {
		t.Errorf("the second: %q", got)
	}
	if ob := reader.Observe(&memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: json.RawMessage(`{"name":"alpha","pad":"alpha","copy":"pad-17","old":"gone"}`),
		Metadata: json.RawMessage(`{"trajectory_id":"e"}`), Evaluation: memoryd.Evaluation{State: memoryd.Judged},
	}); !slices.Equal(ob.Taken, []string{"name"}) || !slices.Equal(ob.Strange, []string{"old"}) {
		t.Errorf("taken %q, strange %q", ob.Taken, ob.Strange)
	}
	for i := range 40_000 { // of so many, the newest are known
		call(reader, "d", fmt.Sprintf(`{"id":"id-%d"}`, i), "", 1)
	}
	for i, want := range map[int]int{3: 1, 30_000: 0, 39_000: 0} {
		if got := planned(fmt.Sprintf(`{"id":"id-%d"}`, i)); len(got) != want {
			t.Errorf("value %d of 40,000: %q", i, got)
		}
	}
	own := evidence.NewObserver().In(world) // as a forecast reads the calls of its run
	call(own, "f", `{"name":"omega"}`, `{"pad":"pad-70"}`, 1)
	if got := call(own, "f", `{"name":"omega","pad":"pad-70","other":"pad-71"}`, "", 1); !slices.Equal(got, []string{"other"}) {
		t.Errorf("what its run knows: %q", got)
	}
}

// What one source shows pushes out nothing that another one showed, however much it is.
func TestOneSourcePushesOutWhatItShowedItselfAlone(t *testing.T) {
	world := evidence.NewWorld()
	reader := evidence.NewObserver().Teach(world)
	give := func(o *evidence.Observer, source, id string) evidence.Observation {
		return o.Observe(&memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Success: true, Input: fmt.Appendf(nil, `{"id":%q}`, id),
			Metadata:   memoryd.WithSource(fmt.Appendf(nil, `{"trajectory_id":%q}`, source), source),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
		})
	}
	for i := range 1000 {
		give(reader, "ann", fmt.Sprintf("ann-%d", i))
	}
	for i := range 100_000 {
		give(reader, "mallory", fmt.Sprintf("flood-%d", i))
	}
	strange := func(id string) bool {
		ob := give(evidence.NewObserver().In(world), "bob", id)
		return len(ob.Strange) > 0
	}
	if strange("ann-0") || strange("ann-999") || strange("flood-99999") || !strange("flood-0") || !strange("other") {
		t.Error("ann's values, or the newest of mallory, are not known, or others are")
	}
}
