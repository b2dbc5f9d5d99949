package evidence_test

import (
	"fmt"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// What was made cannot be made once more: the same call is refused in the run in which it worked, though no single
// value of it is to blame. After a failed one it may be sent again, and in another run it works.
func TestACallThatAlreadyWorkedInTheRunIsToldNotToBeRepeated(t *testing.T) {
	t.Parallel()
	var calls []memoryd.Call
	call := func(run int, input, output string, score float64) {
		calls = append(calls, recorded(len(calls), run, "open_port", input, output, score))
	}
	for i := range 24 {
		for port := range 3 {
			input := fmt.Sprintf(`{"group":"g%d","port":%d}`, i%3, 80+port+i%2)
			if port == 1 {
				call(i, input, "try again", 0)
			}
			call(i, input, "done", 1)
			calls = append(calls, recorded(len(calls), i, "close_port", input, "closed", 1), recorded(len(calls)+1, i, "close_port", input, "closed", 1))
			for _, other := range "hk" { // the port alone may be used again
				call(i, fmt.Sprintf(`{"group":"%c","port":%d}`, other, 80+port+i%2), "done", 1)
			}
			if i%4 == 0 && port == 2 {
				call(i, fmt.Sprintf(`{"group":"g%d","port":%d}`, i%3, 80+i%2), "the rule already exists", 0)
			}
		}
	}
	o := evidence.NewObserver()
	var obs []evidence.Observation
	for i := range calls {
		if ob := o.Observe(&calls[i]); ob.Tool == "open_port" {
			obs = append(obs, ob)
		} else if before := i > 0 && calls[i-1].Tool == "close_port"; ob.Again != before {
			t.Fatalf("call %d of another tool was made before: %t", i, ob.Again)
		}
	}
	found, _ := evidence.RulesAndHints("open_port", obs)
	if len(found) != 1 || found[0].Line != "Do not repeat a call that already worked in the run" || found[0].Calls != 6 || found[0].Good != 0 {
		t.Fatalf("%+v", found)
	}
	again, first := obs[0], obs[0]
	again.Again = true
	if !found[0].Holds(again.Planned()) || found[0].Holds(first.Planned()) {
		t.Error("the rule warns of another call than the repeated one")
	}
}
