package evidence_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// Browsers name what a page shows e3 or 1_5. That a call gave one that no page has shown is the cause, whatever its
// length, and "Ref e3 not found" and "Ref e217 not found" are one kind of failure.
func TestReferencesOfTwoCharactersComeFromAnswersToo(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 8))
	o, seq := evidence.NewObserver(), 0
	var clicks []evidence.Observation
	call := func(run int, tool, input, output string, bad bool) {
		seq++
		c := memoryd.Call{Key: memoryd.CallKey{byte(seq), byte(seq >> 8), 1}, Time: time.Unix(int64(20*seq), 0), Output: output, Success: !bad}
		c.Tool, c.Seq, c.Input, c.Metadata = tool, int64(seq), json.RawMessage(input), json.RawMessage(fmt.Sprintf(`{"trajectory_id":"run-%d"}`, run))
		c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess}
		if bad {
			c.Evaluation.Score = memoryd.ScoreFailure
		}
		if ob := o.Observe(&c); tool == "click" {
			clicks = append(clicks, ob)
		}
	}
	for run := range 12 {
		first := 1 + r.IntN(60)
		call(run, "snapshot", `{}`, fmt.Sprintf("- link \"Home\" [ref=e%d]\n- button \"Send\" [ref=e%d]", first, first+1), false)
		for k := range 3 {
			call(run, "click", fmt.Sprintf(`{"ref":"e%d"}`, first+k%2), "### Page\nclicked", false)
		}
		if wrong := []int{3, 7, 104}[run%3]; run%2 == 0 && wrong != first && wrong != first+1 {
			call(run, "click", fmt.Sprintf(`{"ref":"e%d"}`, wrong), fmt.Sprintf("Error: Ref e%d not found on this page", wrong), true)
		}
	}
	found, _ := evidence.RulesAndHints("click", clicks)
	if len(found) != 1 || !strings.HasPrefix(found[0].Line, "Copy `ref` exactly from an answer of `snapshot`") || found[0].Calls < 5 {
		t.Errorf("got %+v", found)
	}
}
