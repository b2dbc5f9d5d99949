package ops

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"memoryd"
	"memoryd/store"
)

// ofRun is a store with the calls of one run, the newest first.
type ofRun struct {
	store.Store
	calls []store.RunCall
}

func (s ofRun) RunCalls(context.Context, string, string, int) ([]store.RunCall, error) {
	return s.calls, nil
}

func TestARunThatFailedIsToldOfOnlyWhereTheCallIsLikelyToFail(t *testing.T) {
	likely, unlikely := 0.9, 0.1
	failed := func(input string, n int) (calls []store.RunCall) {
		for i := range n {
			calls = append(calls, store.RunCall{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "get"}, Key: memoryd.CallKey{byte(i)},
				Input: json.RawMessage(strings.ReplaceAll(input, "#", strconv.Itoa(i))), Output: "no", State: memoryd.Judged,
			})
		}
		return calls
	}
	for name, tc := range map[string]struct {
		input string
		calls int
		risk  *float64
		told  int
	}{
		"the call was sent in vain, nothing is known of it": {`{"id":7}`, 3, nil, 1},
		"it is likely to fail again":                        {`{"id":7}`, 3, &likely, 1},
		"what it failed for is mended":                      {`{"id":7}`, 3, &unlikely, 0},
		"others of the run failed":                          {`{"id":1#}`, 9, &likely, 1},
		"others failed, this one is likely to work":         {`{"id":1#}`, 9, &unlikely, 0},
		"too few failed":                                    {`{"id":1#}`, 7, &likely, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d, a := Deps{Store: ofRun{calls: failed(tc.input, tc.calls)}}, Assessment{Risk: tc.risk}
			r := &PreflightRequest{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "get"}, Input: json.RawMessage(`{"id":7}`)}
			if err := d.loops(t.Context(), r, "run", &a); err != nil || len(a.Warnings) != tc.told {
				t.Errorf("%v, warned %+v, want %d", err, a.Warnings, tc.told)
			}
		})
	}
}
