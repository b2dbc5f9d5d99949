package guidelines

import (
	"encoding/json"
	"testing"

	"memoryd"
)

// Calls of one tool do not show what their runs did with others.
func TestALineOnOtherToolsOfTheRunCountsNoCallsAsBreakingIt(t *testing.T) {
	calls := []memoryd.Call{{
		Key: memoryd.CallKey{1}, Seq: 2, Input: json.RawMessage(`{"path":"a.txt"}`),
		Metadata: json.RawMessage(`{"trajectory_id":"r1"}`), Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
	}}
	for rule, tells := range map[string]bool{
		`{"what":"without","p":"text"}`:                               true,
		`{"what":"not_before","tool":"open"}`:                         false,
		`{"what":"last_not_in","p":"path","set":["write_file path"]}`: false,
	} {
		d := &Document{
			Items:   []Item{{ID: "line", Evidence: []string{"rule-1"}}},
			Grounds: []Ground{{ID: "rule-1", Kind: "rule", Data: json.RawMessage(rule)}},
		}
		got := d.Outcomes(map[string]Published{"line": {Version: 1, Through: 1}}, calls, func(*memoryd.Call) int64 { return 1 })
		if len(got) != 1 || got[0].Tells != tells || (got[0].After.Broke == 1) != tells {
			t.Errorf("%s: %+v", rule, got)
		}
	}
}
