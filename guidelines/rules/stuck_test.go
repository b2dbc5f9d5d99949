package rules

import (
	"fmt"
	"testing"
)

// A bound that three failures made up, and that agents heed, is no help once what heeds it fails, too, for a
// reason that nothing explains. When a call works again, it is.
func TestNoRuleChangesACallWhileNothingThatHeedsItWorks(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, call(2*i, fmt.Sprintf(`{"zone":%d}`, 7+i%6), ""))
		if i%10 == 3 {
			calls = append(calls, call(2*i+1, fmt.Sprintf(`{"zone":%d}`, 2+i%3), "open_5 first"))
		}
	}
	doubtful := func() bool {
		found := Find("own", calls)
		if len(found) == 0 {
			t.Fatal("no rule was found")
		}
		return found[0].Doubtful
	}
	if doubtful() {
		t.Fatal("doubtful before anything that heeds it failed")
	}
	for i := range 5 {
		if doubtful() {
			t.Errorf("doubtful after %d failures", i)
		}
		calls = append(calls, call(100+2*i, fmt.Sprintf(`{"zone":%d}`, 7+i), "HTTP 422"))
	}
	if !doubtful() {
		t.Error("told with confidence though five calls in a row that heed it failed")
	}
	calls = append(calls, call(200, `{"zone":8}`, ""))
	if doubtful() {
		t.Error("doubtful though a call that heeds it worked again")
	}
}
