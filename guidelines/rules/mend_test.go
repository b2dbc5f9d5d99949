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
		input, message := fmt.Sprintf(`{"owner":%d}`, 3*i+1), ""
		switch {
		case 3*i+1 > 150:
			message = "409"
		case i%4 == 0:
			input = fmt.Sprintf(`{"owner":%d,"lane":"a"}`, 3*i+1)
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
