package rules

import (
	"fmt"
	"strings"
	"testing"
)

// Where several sources are known, one that records failure upon failure of values that it makes up has no other one
// warned of a new value. The control: two sources had such failures.
func TestOneSourceAloneClosesNoSetOfValues(t *testing.T) {
	for name, tc := range map[string]struct {
		of      func(i int) uint64 // who recorded the failures of new values
		untried bool
	}{
		"one of three": {func(int) uint64 { return 3 }, true},
		"two":          {func(i int) uint64 { return uint64(1 + i%2) }, false}, //nolint:gosec // small
	} {
		var calls []Call
		add := func(source uint64, mode, message string) {
			c := call(2*len(calls), fmt.Sprintf(`{"mode":%q}`, mode), message)
			c.Source, c.Party, c.Shared = source, source, true
			calls = append(calls, c)
		}
		for i := range 36 {
			add(uint64(1+i%2), []string{"fast", "slow", "eco"}[i%3], "") //nolint:gosec // small
			if i%6 == 5 {
				add(uint64(1+i/6%2), []string{"odd", "raw"}[i/6%2], "E17") //nolint:gosec // small
			}
			if i > 20 {
				add(tc.of(i), "made-up-"+string(rune('a'+i-20)), "E17")
			}
		}
		found := Find("t", calls)
		if len(found) != 1 || !strings.HasPrefix(found[0].Line, "Give `mode` as one of") {
			t.Fatalf("%s: %q", name, lines(found))
		}
		c := call(0, `{"mode":"new"}`, "")
		if p := Plan(&c); !found[0].Holds(p) || found[0].Untried(p) != tc.untried {
			t.Errorf("%s: untried is %t", name, found[0].Untried(p))
		}
	}
}
