package rules

import (
	"fmt"
	"testing"
)

// Values that name nothing that there is.
func TestValuesThatNothingShowedAreToldWhereTheyFail(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"pad":"pad-%d"}`, 10+i)))
	}
	for i := range 6 {
		c := bad(40+i, fmt.Sprintf(`{"pad":"pad-%d"}`, 30+3*i), "not there")
		c.Strange = []string{"pad"}
		calls = append(calls, c)
	}
	found := Find("own", calls)
	if got := lines(found); got != "Give a `pad` that an answer or a good call had before\n" || !found[0].About() || !found[0].Portable() {
		t.Fatalf("got %q", got)
	}
	for i := range 30 {
		calls[i].Strange = []string{"pad"} // they are new in good calls, too
	}
	if got := lines(Find("own", calls)); got != "" {
		t.Errorf("where good calls have them: %q", got)
	}
}
