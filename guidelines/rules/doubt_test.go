package rules

import (
	"fmt"
	"testing"
)

// heeded is a call that keeps to the rule of closed.
func heeded(i int, message string, party uint64) Call {
	c := bad(i, `{"mode":"amber"}`, message)
	c.Party = party
	return c
}

// closed are good calls of three modes and calls of a fourth that failed, each with its message,
// by two parties in turn where there are two.
func closed(parties int, message func(i int) string) (calls []Call) {
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"mode":%q}`, []string{"amber", "delta", "kelp"}[i%3])))
	}
	for i := range 4 {
		calls = append(calls, bad(40+i, `{"mode":"opal"}`, message(i)))
	}
	for i := range calls {
		calls[i].Party = uint64(1 + i%parties) //nolint:gosec // small
	}
	return calls
}

// doubted reports whether the rules that a call breaks are doubtful: all of them, or none.
func doubted(t *testing.T, calls []Call, input string) bool {
	t.Helper()
	found := broken(Find("own", calls), input)
	if len(found) == 0 {
		t.Fatalf("no rule is broken by %s", input)
	}
	for i := range found {
		if found[i].Doubtful() != found[0].Doubtful() {
			t.Fatalf("one of the rules is doubtful and another one is not: %q", lines(found))
		}
	}
	return found[0].Doubtful()
}

func TestARuleIsDoubtfulOnceTwoCallsThatHeedItFailInTheSameWay(t *testing.T) {
	same := func(int) string { return "E17" }
	for _, tc := range []struct {
		name  string
		after []Call
		want  bool
	}{
		{"nothing came after", nil, false},
		{"one failed in the same way", []Call{bad(60, `{"mode":"amber"}`, "E17")}, false},
		{"two failed in the same way", []Call{bad(60, `{"mode":"amber"}`, "E17"), bad(61, `{"mode":"delta"}`, "E17")}, true},
		{"some failed in another way", []Call{bad(60, `{"mode":"amber"}`, "E99"), bad(61, `{"mode":"delta"}`, "E99")}, false},
		{"one went well", []Call{good(60, `{"mode":"amber"}`)}, false},
		{"one broke it", []Call{bad(60, `{"mode":"opal"}`, "E17")}, false},
		{"one broke it after others heeded it", []Call{
			bad(60, `{"mode":"amber"}`, "E17"), bad(61, `{"mode":"delta"}`, "E17"), bad(62, `{"mode":"opal"}`, "E17"),
		}, false},
		{"some broke another rule", []Call{bad(60, `{"mode":"kelp","n":1}`, "E17"), bad(61, `{"mode":"delta","n":2}`, "E17")}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			calls := closed(1, same)
			for _, c := range tc.after {
				c.Party = 1
				calls = append(calls, c)
			}
			if got := doubted(t, calls, `{"mode":"opal"}`); got != tc.want {
				t.Errorf("doubtful %v, want %v", got, tc.want)
			}
		})
	}
}

func TestWhatIsTooRareToBeAKindRaisesNoDoubt(t *testing.T) {
	calls := closed(1, func(i int) string { return fmt.Sprintf("a message of its own: %c", 'a'+i) })
	calls = append(calls, heeded(60, "nothing like the others", 1))
	if doubted(t, calls, `{"mode":"opal"}`) {
		t.Error("a message that came once made a rule on others doubtful")
	}
}

func TestOfSeveralPartiesItTakesTwoToDoubtARule(t *testing.T) {
	calls := closed(2, func(int) string { return "E17" })
	for i, party := range []uint64{1, 1, 2} {
		calls = append(calls, heeded(60+i, "E17", party))
		if got := doubted(t, calls, `{"mode":"opal"}`); got != (party == 2) {
			t.Errorf("after %d calls that heeded it and failed, the last of party %d: doubtful %v", i+1, party, got)
		}
	}
}
