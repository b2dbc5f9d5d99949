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
		for _, r := range rowsOf("own", calls, Compared) {
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

// A call gives "rows" to delete_rows_or_columns: what its message says of the tool is the same, whatever the call gave.
func TestTheNameOfTheToolIsNoValueOfTheCall(t *testing.T) {
	const tool = "delete_rows_or_columns"
	message := "Invalid arguments for " + tool + ": rows 3 is beyond the end"
	a, repeated := kindOf(tool, message, map[string]value{"axis": {kind: text, text: "rows"}})
	if a != "Invalid arguments for "+tool+": @ 3 is beyond the end" || len(repeated) != 1 || repeated[0] != "axis" {
		t.Errorf("%q repeats %q", a, repeated)
	}
	b, repeated := kindOf(tool, message, map[string]value{"axis": {kind: text, text: "columns"}})
	if b != message || len(repeated) != 0 {
		t.Errorf("%q repeats %q", b, repeated)
	}
}
