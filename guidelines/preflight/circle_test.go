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

func TestARunThatGoesRoundInCirclesIsToldOfOnlyWhereTheCallIsLikelyToFail(t *testing.T) {
	likely := preflight.Learn(evidence.Merge(nil, scored(0)), options)
	unlikely := preflight.Learn(evidence.Merge(nil, scored(1)), options)
	none := preflight.Learn(nil, options)
	for name, tc := range map[string]struct {
		model       *preflight.Model
		tool        string // of the run's calls
		calls, last int    // that failed, and those of them that gave the answer of the newest
		rule        string
		severity    preflight.Severity
	}{
		"the call was sent in vain once":                    {none, "t", 1, 1, "", ""},
		"the call was sent in vain, nothing is known of it": {none, "t", 2, 2, preflight.LoopRule, preflight.Ask},
		"it was sent three times":                           {none, "t", 3, 3, preflight.LoopRule, preflight.Stop},
		"its answer changed":                                {none, "t", 3, 1, "", ""},
		"it is likely to fail again":                        {likely, "t", 3, 3, preflight.LoopRule, preflight.Stop},
		"others of the run failed":                          {likely, "u", 8, 8, preflight.ThrashRule, preflight.Ask},
		"too few failed":                                    {likely, "u", 7, 7, "", ""},
		"others failed, this one is likely to work":         {unlikely, "u", 9, 9, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := preflight.Planned{Input: json.RawMessage(`{"id":7}`), Run: "r"}
			for i := range tc.calls {
				c := store.RunCall{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tc.tool}, Key: memoryd.CallKey{200, byte(i)},
					Input: json.RawMessage(`{"id": 7}`), Output: fmt.Sprint("no ", i), State: memoryd.Judged,
				}
				if i >= tc.last {
					c.Output = "maybe"
				}
				p.RunCalls = append(p.RunCalls, c)
			}
			var got preflight.Warning
			for _, w := range tc.model.Assess(p).Warnings {
				if w.Rule == preflight.LoopRule || w.Rule == preflight.ThrashRule {
					got = w
				}
			}
			if got.Rule != tc.rule || got.Severity != tc.severity || got.Rule != "" && len(got.Calls) != tc.calls {
				t.Errorf("warned %+v, want %s, %s, of %d calls", got, tc.rule, tc.severity, tc.calls)
			}
		})
	}
}

// scored is the history of a tool whose calls all came out alike, each with an input of its own.
func scored(score float64) (calls []memoryd.Call) {
	for i := range 60 {
		calls = append(calls, call(i, fmt.Sprintf(`{"id":%d}`, 1000+i), "answer", score, 1))
	}
	return calls
}
