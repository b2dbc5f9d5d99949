package evidence_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// A rule explains these calls, so that their message need not be told whole; but a heading alone says nothing.
func TestOfAMessageThatBeginsWithAHeadingWhatFollowsIsToldToo(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	for i := range 24 {
		c := memoryd.Call{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "list"}, Key: memoryd.CallKey{byte(i), 8}, Seq: int64(i + 1), Success: true, Output: "three tasks",
			Input: json.RawMessage(`{"status":"all"}`), Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i),
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
		}
		if i%3 == 0 {
			c.Input, c.Success, c.Evaluation.Score = json.RawMessage(`{"status":"open"}`), false, memoryd.ScoreFailure
			c.Output = "Error occurred: Invalid arguments for tool list: [\n  {\n    \"message\": \"Invalid value. Expected 'all' or 'pending' here\",\n    \"path\": [\n      \"status\"\n    ]\n  }\n] \n Please try again"
		}
		calls = append(calls, c)
	}
	e := evidence.Mine("list", evidence.Merge(nil, calls), calls)
	if len(e.Rules) == 0 || len(e.Messages) != 1 || !strings.Contains(e.Messages[0].Text, "status: Invalid value. Expected 'all' or 'pending' here") {
		t.Errorf("rules %v, messages %+v", e.Rules, e.Messages)
	}
}
