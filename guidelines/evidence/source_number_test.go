package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// A process id or an issue's number is a number in the input and stands in a sentence of an answer.
func TestANumberHasToBeCopiedFromAnAnswerAsATextHas(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	call := func(run int, tool, input, output string, score float64) {
		calls = append(calls, recorded(len(calls), run, tool, input, output, score))
	}
	for i := range 20 {
		pid := 3000 + (137*i*7)%2500
		call(i, "start", `{"command":"sh"}`, fmt.Sprintf("Process started with PID %d (shell: sh)", pid), 1)
		if i%3 == 0 {
			wrong := 3000 + (pid*7)%2600 // between the others
			call(i, "stop", fmt.Sprintf(`{"pid":%d}`, wrong), fmt.Sprint("No process ", wrong), 0)
		} else {
			call(i, "stop", fmt.Sprintf(`{"pid":%d}`, pid), "stopped", 1)
		}
	}
	all := evidence.Merge(nil, calls)
	mine := slices.DeleteFunc(slices.Clone(calls), func(c memoryd.Call) bool { return c.Tool != "stop" })
	obs := slices.DeleteFunc(all, func(ob evidence.Observation) bool { return ob.Tool != "stop" })
	found := evidence.Mine("stop", obs, mine).Rules
	if !slices.ContainsFunc(found, func(r rules.Rule) bool { return r.Line == "Copy `pid` exactly from an answer of `start`" }) {
		t.Errorf("rules %+v", found)
	}
}

// recorded makes a judged call of a run.
func recorded(n, run int, tool, input, output string, score float64) memoryd.Call {
	return memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Key: memoryd.CallKey{byte(n), byte(n >> 8), 7}, Seq: int64(n + 1), Success: score > 0,
		Input: json.RawMessage(input), Output: output, Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, run),
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
	}
}
