package ops

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"memoryd"
	"memoryd/ops/survey"
	"memoryd/store"
)

func TestARunThatThrashesSaysWhereItTurnedAndWhatEndedIt(t *testing.T) {
	call := func(n int, tool, input string, score float64) store.RunCall {
		return store.RunCall{ToolRef: memoryd.ToolRef{Tool: tool}, Key: memoryd.CallKey{byte(n)}, Input: json.RawMessage(input), State: memoryd.Judged, Score: score}
	}
	for _, tc := range []struct {
		name  string
		run   survey.Run
		calls []store.RunCall
		why   []string
		from  byte
		until string
	}{
		{"the same failing call", survey.Run{Thrashes: true, Streak: 4}, []store.RunCall{
			call(1, "ls", `{}`, 1), call(2, "get", `{"id":1}`, 0), call(3, "get", `{"id":1}`, 0), call(4, "get", `{"id":1}`, 0), call(5, "get", `{"id":1}`, 0), call(6, "find", `{}`, 1),
		}, []string{"4 times the same failing call of get"}, 2, "find"},
		{"parameter names in turn", survey.Run{Thrashes: true, Streak: 3}, []store.RunCall{
			call(1, "get", `{"path":"a"}`, 0), call(2, "get", `{"file":"a"}`, 0), call(3, "get", `{"remote_path":"a"}`, 0),
		}, []string{"3 sets of parameters tried for get"}, 1, ""},
		{"a run that got somewhere, the control", survey.Run{Streak: 1}, []store.RunCall{
			call(1, "get", `{"path":"a"}`, 0), call(2, "get", `{"file":"a"}`, 1),
		}, nil, 1, "get"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := RankedRun{Run: tc.run}
			r.explain(tc.calls)
			if !slices.Equal(r.Why, tc.why) || r.Turned.Key[0] != tc.from || r.Ended.Tool != tc.until {
				t.Errorf("%q, from %v, until %q", r.Why, r.Turned, r.Ended.Tool)
			}
		})
	}
	var many []store.RunCall
	for i := range 10 {
		many = append(many, call(i+1, "sh", fmt.Sprintf(`{"c":"%d"}`, i), float64(i/8)))
	}
	r := RankedRun{Run: survey.Run{Thrashes: true, Streak: 8, OfTen: 8}}
	if r.explain(many); !slices.Equal(r.Why, []string{"8 of 10 calls in a row failed"}) || r.Repeats != 0 {
		t.Errorf("%q, %d repeats", r.Why, r.Repeats)
	}
}
