package rules

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Agents give one object for a list of them, a number as a text, or JSON as a text: what the good calls gave is told,
// whatever the tool answers, and a planned call is changed to it.
func TestAValueOfAnotherTypeIsToldAndMended(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		good, bad  []string // values of `v`; %d is the number of the call
		want, line string   // what the first bad one becomes; "" for none
	}{
		{"one object for a list", []string{`[{"a":"x%d"}]`, `[{"a":"y"},{"a":"z%d"}]`}, []string{`{"a":"q"}`}, `[{"a":"q"}]`, "Give `v` as a list of objects"},
		{"JSON as a text", []string{`{"a":"x%d"}`}, []string{`"{\"a\":\"b\"}"`}, `{"a":"b"}`, "Give `v` as an object"},
		{"one text for a list", []string{`["x%d"]`, `["x","y%d"]`}, []string{`"one"`, `"two"`}, `["one"]`, "Give `v` as a list of texts"},
		{"perhaps several in one text", []string{`["x%d"]`}, []string{`"one,two"`}, "", "Give `v` as a list of texts"},
		{"one row for a list of them", []string{`[[%d,"x"],[7,"y"]]`}, []string{`[3,"x"]`}, `[[3,"x"]]`, "Give `v` as a list of lists"},
		{"numbers for texts", []string{`["x%d"]`}, []string{`[1,2]`, `[3]`}, "", "Give `v` as a list of texts"},
		{"a list for its element", []string{`{"a":"x%d"}`}, []string{`[{"a":"b"}]`}, `{"a":"b"}`, "Give `v` as an object"},
		{"a list of several for one", []string{`{"a":"x%d"}`}, []string{`[{"a":"b"},{"a":"c"}]`}, "", "Give `v` as an object"},
		{"a number as a text", []string{`%d`}, []string{`"7"`, `"12"`}, `7`, "Give `v` as a whole number"},
		{"a word for a number", []string{`%d`}, []string{`"high"`, `"low"`}, "", "Give `v` as a whole number"},
		{"a fraction", []string{`%d`}, []string{`2.5`, `7.25`}, "", "Give `v` as a whole number"},
		{"a text for any number", []string{`%d.5`, `%d`}, []string{`"7"`, `"1.5"`}, `7`, "Give `v` as a number"},
		{"a word for a number that may stand in a text", []string{`%d`, `"%d.50"`}, []string{`"ten"`, `"12 euro"`}, "", "Give `v` as a number"},
		{"a number for digits", []string{`"%d"`}, []string{`7`, `12`}, `"7"`, "Give `v` as text"},
		{"a number for a text", []string{`"room %d"`}, []string{`7`, `12`}, `"7"`, "Give `v` as text"},
		{"a word for a truth value", []string{`true`, `false`}, []string{`"true"`, `"no"`}, `true`, "Give `v` as true or false"},
		{"null", []string{`%d`}, []string{`null`}, "", "Give `v` as a whole number, not null"},
		{"of a member", []string{`{"n":%d}`}, []string{`{"n":"7"}`}, `{"n":7}`, "Give `v.n` as a whole number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls []Call
			for i := range 40 {
				v, message := c.good[i%len(c.good)], ""
				if i%4 == 3 {
					v, message = c.bad[i/4%len(c.bad)], "E31"
				}
				if slices.Contains([]byte(v), '%') {
					v = fmt.Sprintf(v, i)
				}
				calls = append(calls, call(i, `{"v":`+v+`}`, message))
			}
			found := Find("own", calls)
			if len(found) != 1 || found[0].Line != c.line || found[0].Calls != 10 || found[0].Good != 0 {
				t.Fatalf("told %q, want %q", lines(found), c.line)
			}
			mended := ""
			for _, e := range found[0].Mend(Plan(&Call{Input: json.RawMessage(`{"v":` + c.bad[0] + `}`)}), nil) {
				b, err := json.Marshal(e.Value)
				if err != nil {
					t.Fatal(err)
				}
				if mended = string(b); e.Path == "v.n" {
					mended = `{"n":` + mended + `}`
				}
			}
			if mended != c.want {
				t.Errorf("becomes %s, want %s", mended, c.want)
			}
		})
	}
}

// A type that nobody tried may work; where a fraction worked, so may a whole number.
func TestATypeThatNobodyTriedIsNotWarnedOf(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		if i%4 == 3 {
			calls = append(calls, call(i, fmt.Sprintf(`{"v":"%d"}`, i), "E31"))
		} else {
			calls = append(calls, call(i, fmt.Sprintf(`{"v":%d.5}`, i), ""))
		}
	}
	found := Find("own", calls)
	if len(found) != 1 || found[0].Line != "Give `v` as a number" {
		t.Fatalf("told %q", lines(found))
	}
	for input, warns := range map[string]bool{`{"v":"9"}`: true, `{"v":9}`: false, `{"v":9.5}`: false, `{"v":[9]}`: false, `{}`: false} {
		p := Plan(&Call{Input: json.RawMessage(input)})
		if got := found[0].Holds(p) && !found[0].Untried(p); got != warns {
			t.Errorf("%s: warns %v", input, got)
		}
	}
}

// A fraction that worked is no reason to refuse a whole number.
func TestThatOnlyFractionsWorkedIsNoRule(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		if i%4 == 3 {
			calls = append(calls, call(i, fmt.Sprintf(`{"v":%d}`, i), "E31"))
		} else {
			calls = append(calls, call(i, fmt.Sprintf(`{"v":%d.5}`, i), ""))
		}
	}
	if found := Find("own", calls); len(found) != 0 {
		t.Errorf("told %q", lines(found))
	}
}

// Who gives null for what may be left out is told to leave it out.
func TestNullIsLeftOutWhereGoodCallsDid(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 40 {
		switch {
		case i%4 == 3:
			calls = append(calls, call(i, `{"q":"a","v":null}`, "E31"))
		case i%2 == 0:
			calls = append(calls, call(i, `{"q":"a"}`, ""))
		default:
			calls = append(calls, call(i, fmt.Sprintf(`{"q":"a","v":%d}`, i), ""))
		}
	}
	found := Find("own", calls)
	if len(found) != 1 || found[0].Line != "Give `v` as a whole number or leave it out, not null" {
		t.Fatalf("told %q", lines(found))
	}
	edits := found[0].Mend(Plan(&Call{Input: json.RawMessage(`{"q":"a","v":null}`)}), nil)
	if len(edits) != 1 || !edits[0].Remove || edits[0].Path != "v" {
		t.Errorf("changed by %v", edits)
	}
	if found[0].Holds(Plan(&Call{Input: json.RawMessage(`{"q":"a"}`)})) {
		t.Error("a call without it is warned of")
	}
}

// One call of another type that went wrong is a hint, and types that work as well as others are no rule.
func TestOneCallOfAnotherTypeIsAHint(t *testing.T) {
	t.Parallel()
	calls := []Call{
		call(0, `{"v":["a"]}`, ""), call(2, `{"v":["b","c"]}`, ""), call(4, `{"v":["d"]}`, ""), call(6, `{"v":"e"}`, "E31"),
	}
	few := []Call{call(0, `{}`, ""), call(2, `{}`, ""), call(4, `{"v":["d"]}`, ""), call(6, `{"v":"e"}`, "E31 of v")}
	if hints := Hints("own", few, nil); strings.Contains(lines(hints), "list") {
		t.Errorf("hints where one good call gave it: %q", lines(hints))
	}
	hints := Hints("own", calls, nil)
	if len(hints) != 1 || hints[0].Line != "Give `v` as a list of texts" {
		t.Errorf("hints %q", lines(hints))
	}
	calls = calls[:0]
	for i := range 40 {
		message := ""
		if i%5 == 0 {
			message = "E31"
		}
		calls = append(calls, call(i, []string{`{"v":"a"}`, `{"v":["a"]}`}[i%2], message))
	}
	if found := Find("own", calls); len(found) != 0 {
		t.Errorf("told %q of types that make no difference", lines(found))
	}
}
