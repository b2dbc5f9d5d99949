package rules

import (
	"fmt"
	"testing"
)

// What messages quote names what calls gave, or what there is now: many that differ in nothing else are of one kind
// of failure. Few, and those that differ in a word or a code, are not.
func TestManyMessagesThatDifferInWhatTheyQuoteAreOfOneKind(t *testing.T) {
	kinds := func(message func(i int) string) int {
		var calls []Call
		for i := range 40 {
			calls = append(calls, call(i, fmt.Sprintf(`{"sheet":"x%d"}`, i), message(i/2)))
		}
		got := map[string]bool{}
		for _, r := range rowsOf(calls, Compared) {
			got[r.kind] = true
		}
		return len(got)
	}
	for name, c := range map[string]struct {
		message func(i int) string
		want    int
	}{
		"lists": {func(i int) string {
			return fmt.Sprintf(`not there. Available: 'Sheet1', "s%c" and 'last'`, 'a'+rune(i))
		}, 1},
		"one of each": {func(i int) string { return fmt.Sprintf("no 's%c'", 'a'+rune(i)) }, 1},
		"few":         {func(i int) string { return fmt.Sprintf("'%c' is required", "abc"[i%3]) }, 3},
		"codes":       {func(i int) string { return fmt.Sprintf("E%d: no 's%c'", i%2, 'a'+rune(i)) }, 2},
		"words":       {func(i int) string { return fmt.Sprintf("reason %c", 'a'+rune(i)) }, 20},
	} {
		if got := kinds(c.message); got != c.want {
			t.Errorf("%s: %d kinds, want %d", name, got, c.want)
		}
	}
}
