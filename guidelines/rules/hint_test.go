package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// One failure beyond the numbers that worked may have any cause, unless its message names the parameter.
func TestOneFailureTellsABoundOnlyWhereItsMessageNamesTheParameter(t *testing.T) {
	for message, told := range map[string]bool{"lane: too far": true, "E17": false} {
		var calls []Call
		for i := range 5 {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"lane":%d}`, i+1), ""))
		}
		calls = append(calls, call(20, `{"lane":50}`, message))
		if got := lines(Hints("t", calls, nil)); strings.Contains(got, "`lane` at most 5") != told {
			t.Errorf("%q: %q", message, got)
		}
	}
}

// A value that nobody tried may work: the rule neither warns of it nor changes it.
func TestAValueThatNobodyTriedBreaksNoSetOfValues(t *testing.T) {
	var calls []Call
	for i := range 24 {
		mode, message := []string{"fast", "slow", "eco"}[i%3], ""
		if i%4 == 3 {
			mode, message = []string{"odd", "raw"}[i/4%2], "E17"
		}
		calls = append(calls, call(2*i, fmt.Sprintf(`{"mode":%q}`, mode), message))
	}
	found := Find("t", calls)
	if len(found) != 1 || !strings.HasPrefix(found[0].Line, "Give `mode` as one of") {
		t.Fatalf("%q", lines(found))
	}
	for mode, untried := range map[string]bool{"odd": false, "new": true} {
		c := call(0, fmt.Sprintf(`{"mode":%q}`, mode), "")
		if p := Plan(&c); !found[0].Holds(p) || found[0].Untried(p) != untried {
			t.Errorf("%q: %v", mode, found[0].Untried(p))
		}
	}
}

// What a text that always failed has to do with it no line can tell: a call that gives it is warned, until it works.
func TestATextThatNeverWorkedIsForWarningsAlone(t *testing.T) {
	t.Parallel()
	const never = "{w*}(<=a+)b"
	for _, c := range []struct {
		failed, worked int
		message        string
		want           string
	}{
		{4, 0, "look-behind requires fixed width", "Give another `pattern`: this one failed 4 times and never worked"},
		{2, 0, "look-behind requires fixed width", ""},
		{4, 1, "look-behind requires fixed width", ""},
	} {
		var calls []Call
		for i := range 40 {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"pattern":"%c(%d*)<=a+b{w}","deep":true}`, 'a'+i%24, i), ""))
		}
		for i := range c.failed {
			calls = append(calls, call(80+2*i, `{"pattern":"`+never+`","deep":true}`, c.message))
		}
		for range c.worked {
			calls = append(calls, call(100, `{"pattern":"`+never+`","deep":true}`, ""))
		}
		found := Find("search", calls)
		if strings.Contains(lines(found), "never") || strings.Contains(lines(found), "pattern") {
			t.Errorf("%+v: told %q", c, lines(found))
		}
		got := ""
		for _, r := range Values("search", calls, found) {
			got += r.Line + ": " + r.Found()
			p, other := Plan(&Call{Input: json.RawMessage(`{"pattern":"` + never + `"}`)}), Plan(&Call{Input: json.RawMessage(`{"pattern":"(7*)"}`)})
			if !r.Untold || !r.Holds(p) || r.Holds(other) || r.Mend(p, nil) != nil {
				t.Errorf("%+v: %+v", c, r)
			}
		}
		if got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}
