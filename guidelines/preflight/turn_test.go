package preflight_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"

	jsonv2 "github.com/go-json-experiment/json"
)

// A tool that may be called five times in a run, and one that wants half a minute between two
// calls: what the run did before and when tells which planned calls break it.
func TestHowOftenAndHowSoonARunCallsIsWarnedOf(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		line string
		// fails reports whether a call fails, the nth in its run and so long after the one before.
		fails  func(n int, pause time.Duration) bool
		bad    func(now time.Time) []store.RunCall // of the run so far
		good   func(now time.Time) []store.RunCall
		pauses []time.Duration
	}{
		{
			line: "Call it at most 5 times in a run", fails: func(n int, _ time.Duration) bool { return n > 5 },
			bad: ran(5, time.Minute), good: ran(4, time.Minute), pauses: []time.Duration{time.Minute},
		},
		{
			line:  "Wait at least 40 seconds between two calls",
			fails: func(n int, pause time.Duration) bool { return n > 1 && pause < 30*time.Second },
			bad:   ran(2, 5*time.Second), good: ran(2, time.Minute),
			pauses: []time.Duration{3 * time.Second, 40 * time.Second, 12 * time.Second, 90 * time.Second, 5 * time.Second, 50 * time.Second},
		},
	} {
		o := evidence.NewObserver()
		var calls []memoryd.Call
		var obs []evidence.Observation
		now := start
		for run := range 12 {
			for n := range 7 {
				pause := tc.pauses[(run+2*n+n*n)%len(tc.pauses)]
				now = now.Add(pause)
				c := memoryd.Call{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(len(calls)), 9}, Seq: int64(len(calls)), Time: now, //nolint:gosec // small
					Input: fmt.Appendf(nil, `{"q":"w%d"}`, len(calls)), Output: `{"ok":true}`, Success: true,
					Metadata:   fmt.Appendf(nil, `{"trajectory_id":"r%d","agent_id":"a%d"}`, run, run%3),
					Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
				}
				if tc.fails(n+1, pause) {
					c.Output, c.Success, c.Evaluation.Score = "E17", false, 0
				}
				calls, obs = append(calls, c), append(obs, o.Observe(&c))
			}
		}
		for i := range obs {
			obs[i].Trim() // as the window keeps them
			kept, err := jsonv2.Marshal(&obs[i])
			if err != nil || jsonv2.Unmarshal(kept, &obs[i]) != nil {
				t.Fatal(err)
			}
		}
		found, hints := evidence.RulesAndHints("t", obs)
		m := preflight.Learn(evidence.Merge(nil, calls), preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: found, Hints: hints})
		warned := func(before []store.RunCall) bool {
			a := m.Assess(preflight.Planned{Input: json.RawMessage(`{"q":"new"}`), Run: "next", RunCalls: before, Now: now})
			for _, w := range a.Warnings {
				if strings.HasPrefix(w.Text, tc.line) {
					return true
				}
			}
			return false
		}
		if !warned(tc.bad(now)) || warned(tc.good(now)) || warned(nil) {
			t.Errorf("%s: warned %t, of a good call %t, of a first one %t; found %d rules", tc.line, warned(tc.bad(now)), warned(tc.good(now)), warned(nil), len(found))
		}
	}
}

// ran are so many good calls of a run, newest first, the last of them so long before now.
func ran(n int, ago time.Duration) func(now time.Time) []store.RunCall {
	return func(now time.Time) (list []store.RunCall) {
		for i := range n {
			list = append(list, store.RunCall{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Time: now.Add(-ago - time.Duration(i)*time.Minute),
				Input: fmt.Appendf(nil, `{"q":"x%d"}`, i), Output: `{"ok":true}`, Success: true, State: memoryd.Judged, Score: 1,
			})
		}
		return list
	}
}
