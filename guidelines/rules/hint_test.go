package rules

import (
	"strings"
	"testing"
)

// What too few calls show to be a rule is told to who met it, with values that several parties vouch for: those of one alone are
// told to no other.
func TestAHintNamesNoValueOfOneParty(t *testing.T) {
	for _, shared := range []bool{false, true} {
		var calls []Call
		for i := range 40 {
			c := Call{Input: []byte(`{"role":"reader"}`), Run: uint64(i/2 + 1), Named: true, Party: uint64(i%2 + 1)}
			if i%4 == 3 || shared && i%4 == 0 {
				c.Input = []byte(`{"role":"owner"}`)
			}
			calls = append(calls, c)
		}
		calls = append(calls, Call{Input: []byte(`{"role":"guest"}`), Bad: true, Failed: true, Message: "no role", Run: 99, Named: true, Party: 1})
		lines := ""
		for _, h := range Hints("t", calls, Find("t", calls)) {
			lines += h.Line + "\n"
		}
		if !strings.Contains(lines, "reader") || strings.Contains(lines, "owner") != shared {
			t.Errorf("known of several: %t\n%s", shared, lines)
		}
	}
}
