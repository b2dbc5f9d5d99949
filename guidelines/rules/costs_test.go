package rules

import (
	"fmt"
	"testing"
)

// Good calls that took long, or many tokens, are told by what tells them from the others.
func TestWhatMakesGoodCallsDearIsTold(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		limit, full := 10+i%5, ""
		c := Call{Run: uint64(i/2 + 1), Named: true, Seconds: 1, Tokens: 40}
		if i%4 == 0 {
			limit, c.Seconds = 900+i, 12
		}
		if i%5 == 2 {
			full, c.Tokens = `,"full":true`, 900
		}
		c.Input = fmt.Appendf(nil, `{"limit":%d%s}`, limit, full)
		calls = append(calls, c)
	}
	got := ""
	for _, r := range Find("t", calls) {
		got += r.Line + ": " + r.Found() + "\n"
	}
	if want := "Leave out `full`: otherwise 8 good calls took 900 tokens, the others 40 (medians)\n" +
		"Keep `limit` at most 14: otherwise 10 good calls took 12 s, the others 1 s (medians)\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
