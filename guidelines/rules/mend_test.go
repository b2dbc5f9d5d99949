package rules

import (
	"encoding/json"
	"fmt"
	"testing"
)

// All calls over the bound left out a parameter that others gave: whether it lifts the bound, nobody
// tried, and who obeys a suggestion never will.
func TestNothingIsSuggestedForACallThatGivesWhatNoFailedCallGave(t *testing.T) {
	var calls []Call
	for i := range 60 {
		owner := 3*(i*37%60) + 1
		input, message := fmt.Sprintf(`{"owner":%d}`, owner), ""
		switch {
		case owner > 150:
			message = "409"
		case owner%4 == 1:
			input = fmt.Sprintf(`{"owner":%d,"lane":"a"}`, owner)
		}
		calls = append(calls, call(i, input, message))
	}
	found := Find("own", calls)
	if len(found) != 1 || found[0].Parameter != "owner" {
		t.Fatalf("got %s", lines(found))
	}
	for input, mended := range map[string]bool{`{"owner":200}`: true, `{"owner":200,"lane":"b"}`: false} {
		p := Plan(&Call{Input: json.RawMessage(input)})
		if got := found[0].Mend(p, nil); len(got) > 0 != mended || !found[0].Holds(p) {
			t.Errorf("%s: %v", input, got)
		}
	}
}

// Things are numbered as they are made: the largest number that worked is no bound, for the next thing has a larger
// one. What is far beyond it never was one.
func TestANumberThatGrowsHasNoBoundButAFarOne(t *testing.T) {
	find := func(id func(i int) int, failed int) string {
		var calls []Call
		for i := range 40 {
			input, message := fmt.Sprintf(`{"id":%d}`, id(i)), ""
			if i%8 == 7 {
				input, message = fmt.Sprintf(`{"id":%d}`, failed+i), "gone"
			}
			calls = append(calls, call(i, input, message))
		}
		return lines(Find("get", calls))
	}
	grows, mixed := func(i int) int { return i + 1 }, func(i int) int { return i*7%40 + 1 }
	if got := find(grows, 42); got != "" {
		t.Errorf("the next numbers: got %q", got)
	}
	for name, got := range map[string]string{"a far number": find(grows, 900), "numbers in no order": find(mixed, 42)} { // the control
		if got == "" {
			t.Errorf("%s: got nothing", name)
		}
	}
}
