package preflight_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// Two numbers in a message, one of them the call's own, ask for a sum only where calls that worked afterwards had it:
// lines of a file that a message names do not.
func TestASumIsSuggestedOnlyWhereCallsThatWorkedHadWhatMessagesAskFor(t *testing.T) {
	t.Parallel()
	edit := func(line int) string { return fmt.Sprintf(`{"path":"a.txt","patches":[{"line":%d,"text":"x"}]}`, line) }
	for name, c := range map[string]struct {
		then func(asked int) int // the line of the call that works after one that failed
		want string
	}{
		"what was asked for": {func(asked int) int { return asked }, edit(11)},
		"something else":     {func(int) int { return 5 }, ""},
		"mostly something else": {func(asked int) int {
			if asked < 22 {
				return asked
			}
			return 5
		}, ""},
		"nothing worked after": {nil, ""},
	} {
		var heard []memoryd.Call
		for i := range 6 {
			run := fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i)
			failed := call(3*i, edit(i+1), fmt.Sprintf("changed since line %d was read, which is now %d", i+1, i+20), 0, 1)
			failed.Metadata = run
			if heard = append(heard, failed); c.then != nil {
				good := call(3*i+1, edit(c.then(i+20)), "done", 1, 1)
				good.Metadata = run
				heard = append(heard, good)
				later := call(3*i+2, edit(i+20), "done", 1, 1) // says nothing of what was asked for before
				later.Metadata = run
				heard = append(heard, later)
			}
		}
		refused := step(1, "t", edit(1), "changed since line 1 was read, which is now 11", true)
		m := preflight.Learn(evidence.Merge(nil, heard), options)
		a := m.Assess(preflight.Planned{Input: json.RawMessage(edit(3)), Run: "r", RunCalls: []store.RunCall{refused}})
		if string(a.Suggestion) != c.want {
			t.Errorf("%s: suggested %q, want %q", name, a.Suggestion, c.want)
		}
	}
}
