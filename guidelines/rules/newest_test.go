package rules

import (
	"fmt"
	"strings"
	"testing"
)

// A tool that two parties use refuses a mode from some call on; then a third party floods it
// with good calls. What is newest is still what each of them met.
func TestAPartyThatFloodsAToolHidesNoChangeFromTheOthers(t *testing.T) {
	for _, flood := range []int{0, 45} {
		t.Run(fmt.Sprintf("%d calls", flood), func(t *testing.T) {
			var calls []Call
			add := func(c Call, party int) {
				c.Party, c.Run = uint64(party), uint64(len(calls)+1) //nolint:gosec // small
				calls = append(calls, c)
			}
			for i := range 60 {
				add(good(i, fmt.Sprintf(`{"mode":%q}`, []string{"amber", "opal"}[i%2])), 1+i%3/2)
			}
			for i := range 24 {
				add(good(i, `{"mode":"amber"}`), 1+i%2)
				if i%3 == 0 {
					add(bad(i, `{"mode":"opal"}`, "E17"), 1+i/3%2)
				}
			}
			for i := range flood {
				add(good(i, `{"mode":"amber"}`), 3)
			}
			if found := broken(Find("own", calls), `{"mode":"opal"}`); len(found) == 0 || !strings.Contains(found[0].Line, "opal") {
				t.Errorf("the change is not told: %q", lines(found))
			}
		})
	}
}
