package evidence_test

import (
	"testing"

	"memoryd/guidelines/evidence"
)

func TestAValueWrittenLikeANameIsNoChoiceOfFewCalls(t *testing.T) {
	for _, c := range []struct {
		value         string
		values, calls int
		may           bool
	}{
		{"Smith", 2, 7, true},
		{"Dr. Lee", 6, 48, true},
		{"Émile", 1, 5, true},
		{"High", 3, 60, false},
		{"True", 2, 40, false},
		{"economy", 1, 5, false},
		{"PHL", 1, 4, false},
		{"", 1, 1, false},
	} {
		if got := evidence.MayName(c.value, c.values, c.calls); got != c.may {
			t.Errorf("%q, one of %d in %d calls: %t", c.value, c.values, c.calls, got)
		}
	}
}
