package rules

import (
	"fmt"
	"slices"
	"testing"
)

// Values that name nothing that there is, or that something has already.
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
	if got := lines(Find("own", calls)); got != "" {
		t.Errorf("where it is not known what the workspace knew: %q", got)
	}
	for i := range calls {
		calls[i].World = true
	}
	found := Find("own", calls)
	if got := lines(found); got != "Give `pad` a value that an answer or a good call had before\n" || !found[0].About() || !found[0].Portable() {
		t.Fatalf("got %q", got)
	}
	before := slices.Clone(calls)
	for i := range before {
		before[i].World = i >= 18 // as after an upgrade
	}
	if found := Find("own", before); len(found) != 1 {
		t.Errorf("where early calls were not compared: %q", lines(found))
	}
	for i := range calls[30:] {
		before[30+i] = bad(40+i, `{"pad":"pad-x1"}`, "not there")
		before[30+i].Strange, before[30+i].World = []string{"pad"}, true
	}
	if found := Find("own", before); len(found) > 0 && found[0].when.what == nowhere {
		t.Errorf("where one value failed again and again: %q", lines(found))
	}
	for i := range calls {
		calls[i].Strange, calls[i].Taken = nil, calls[i].Strange
	}
	if got := lines(Find("own", calls)); got != "Give `pad` a value that no good call gave before\n" {
		t.Errorf("got %q", got)
	}
	for i := range calls[:30] {
		calls[i].Strange, calls[i].Taken = []string{"pad"}, []string{"pad"} // so it is in good calls
	}
	if got := lines(Find("own", calls)); got != "" {
		t.Errorf("where good calls have them: %q", got)
	}
}
