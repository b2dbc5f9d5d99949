package rules

import (
	"fmt"
	"strings"
	"testing"
)

// One failure beyond the numbers that worked may have any cause, unless its message names the parameter.
func TestOneFailureTellsABoundOnlyWhereItsMessageNamesTheParameter(t *testing.T) {
	for message, told := range map[string]bool{"lane: too far": true, "E17": false} {
		var calls []Call
		for i := range 5 {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"lane":%d}`, i+1), ""))
		}
		calls = append(calls, call(20, `{"lane":50}`, message))
		if got := lines(Hints("t", calls, nil)); strings.Contains(got, "`lane` at most 5") != told {
			t.Errorf("%q: %q", message, got)
		}
	}
}

// A value that nobody tried may work: the rule neither warns of it nor changes it.
func TestAValueThatNobodyTriedBreaksNoSetOfValues(t *testing.T) {
	var calls []Call
	for i := range 24 {
		mode, message := []string{"fast", "slow", "eco"}[i%3], ""
		if i%4 == 3 {
			mode, message = []string{"odd", "raw"}[i/4%2], "E17"
		}
		calls = append(calls, call(2*i, fmt.Sprintf(`{"mode":%q}`, mode), message))
	}
	found := Find("t", calls)
	if len(found) != 1 || !strings.HasPrefix(found[0].Line, "Give `mode` as one of") {
		t.Fatalf("%q", lines(found))
	}
	for mode, untried := range map[string]bool{"odd": false, "new": true} {
		c := call(0, fmt.Sprintf(`{"mode":%q}`, mode), "")
		if p := Plan(&c); !found[0].Holds(p) || found[0].Untried(p) != untried {
			t.Errorf("%q: %v", mode, found[0].Untried(p))
		}
	}
}
