package preflight

import "testing"

// A value is suggested that worked in three calls of two sources, or of three runs where one source is all there is.
func TestAValueIsSuggestedThatWorkedInEnoughRunsOrSources(t *testing.T) {
	some := func(names ...string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	for _, tc := range []struct {
		name                string
		calls               int
		runs, sources, tool map[string]bool
		want                bool
	}{
		{"one source, three runs", 3, some("1", "2", "3"), some("a"), some("a"), true},
		{"one source, many calls of two runs", 9, some("1", "2"), some("a"), some("a"), false},
		{"two sources", 3, some("1", "2"), some("a", "b"), some("a", "b"), true},
		{"two calls of two sources", 2, some("1", "2"), some("a", "b"), some("a", "b"), false},
		{"one of two sources", 9, some("1", "2", "3"), some("a"), some("a", "b"), false},
	} {
		m := &Model{values: newValues()}
		m.values.sources = tc.tool
		if got := m.meets(&workedValue{calls: tc.calls, runs: tc.runs, sources: tc.sources}); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
}
