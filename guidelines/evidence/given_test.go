package evidence_test

import (
	"encoding/json"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// A key 2 that was locked is the key 2 that is unlocked, and not the page 2 that is read.
func TestAShortNumberIsUsedAgainAsTheSameParameterOnly(t *testing.T) {
	t.Parallel()
	o := evidence.NewObserver()
	last := func(tool, input string) []rules.Used {
		ob := o.Observe(&memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Input: json.RawMessage(input), Output: "ok", Success: true,
			Metadata:   json.RawMessage(`{"trajectory_id":"r"}`),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
		})
		return ob.Last
	}
	last("lock", `{"key":2,"owner":20260}`)
	for name, tc := range map[string]struct {
		input string
		want  []rules.Used
	}{
		"the same parameter":          {`{"key":2}`, []rules.Used{{Path: "key", In: "lock key"}}},
		"another number":              {`{"key":3}`, nil},
		"another parameter":           {`{"page":2}`, nil},
		"a long number names as such": {`{"user":20260}`, []rules.Used{{Path: "user", In: "lock owner"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := last("unlock"+name, tc.input); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
