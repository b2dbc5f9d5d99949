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

// A value that nobody tried may work: the rule neither warns of it nor changes it. Where new values mostly failed it
// warns, and still changes nothing: which value is meant, nobody knows.
func TestAValueThatNobodyTriedBreaksASetOfValuesOnlyWhereNewOnesFail(t *testing.T) {
	for _, tc := range []struct {
		good, bad []string
		late      bool // the good values come one after the other
		untried   bool
	}{
		{good: []string{"fast", "slow", "eco"}, bad: []string{"odd", "raw"}, untried: true},
		{good: []string{"fast", "slow", "eco"}, bad: []string{"odd", "raw", "fsat", "Slow"}},
		{good: []string{"fast", "slow", "eco", "calm", "mild", "warm"}, bad: []string{"odd", "raw", "fsat", "Slow"}, late: true, untried: true},
	} {
		var calls []Call
		for i := range 48 {
			mode, message := tc.good[i%len(tc.good)], ""
			if tc.late {
				mode = tc.good[i*len(tc.good)/48]
			}
			if i%4 == 3 {
				mode, message = tc.bad[i/4%len(tc.bad)], "E17"
			}
			calls = append(calls, call(2*i, fmt.Sprintf(`{"mode":%q}`, mode), message))
		}
		found := Find("t", calls)
		if len(found) != 1 || !strings.HasPrefix(found[0].Line, "Give `mode` as one of") {
			t.Fatalf("%q", lines(found))
		}
		for mode, untried := range map[string]bool{"odd": false, "new": tc.untried} {
			c := call(0, fmt.Sprintf(`{"mode":%q}`, mode), "")
			p := Plan(&c)
			if !found[0].Holds(p) || found[0].Untried(p) != untried {
				t.Errorf("%q of %q and %q: %v", mode, tc.good, tc.bad, found[0].Untried(p))
			}
			if edits := found[0].Mend(p, nil); len(edits) > 0 && mode == "new" {
				t.Errorf("%q is mended: %+v", mode, edits)
			}
		}
	}
}

// One call that found nothing says too little of why.
func TestACallThatFoundNothingGivesNoHint(t *testing.T) {
	for _, empty := range []bool{false, true} {
		var calls []Call
		for i := range 6 {
			calls = append(calls, call(2*i, `{"page":1}`, ""))
		}
		last := call(20, `{"page":9}`, "page: nothing")
		last.Empty = empty
		if got := lines(Hints("t", append(calls, last), nil)); (got == "") != empty {
			t.Errorf("empty: %v: %q", empty, got)
		}
	}
}

// A value that was given before, or a number that came without another parameter, may be why one call failed, and was the
// reason as often as not. Three such calls tell.
func TestOneFailureTellsNothingOfAValueTakenNorOfWhatANumberNeeds(t *testing.T) {
	history := func(failures int) (calls []Call) {
		for i := range 24 {
			c := call(2*i, fmt.Sprintf(`{"name":"n%d","size":%d}`, i, 1+i%5), "")
			c.World = true
			if i%4 == 3 && failures > 0 {
				c = call(2*i, fmt.Sprintf(`{"name":"n%d","size":%d}`, i-1, 40+i), "E17")
				c.World, c.Taken = true, []string{"name"}
				failures--
			} else if i%4 == 1 {
				c = call(2*i, fmt.Sprintf(`{"name":"n%d","size":%d,"unit":"kg"}`, i, 40+i), "")
				c.World = true
			}
			calls = append(calls, c)
		}
		return calls
	}
	for failures, want := range map[int]bool{1: false, 6: true} {
		calls := history(failures)
		found := lines(Find("t", calls)) + lines(Hints("t", calls, nil))
		if strings.Contains(found, "no good call gave before") != want || strings.Contains(found, "`unit`") {
			t.Errorf("%d failures: %q", failures, found)
		}
	}
}
