package rules

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// What one element of a list was refused for is told, whatever the others are: a value that no good call gave, a number
// beyond those that worked, another type. A planned call is warned of where one of its elements is such.
func TestAnElementOfAListIsToldAndWarnedOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		good, bad []string
		line      string
		warns     map[string]bool
	}{
		{
			"a member that is none of some values",
			[]string{`[{"s":"open","n":"x%d"}]`, `[{"s":"done","n":"y%d"},{"s":"open","n":"b"}]`, `[{"s":"held","n":"z%d"}]`},
			[]string{`[{"s":"open","n":"x%d"},{"s":"closed","n":"b"}]`, `[{"s":"shut","n":"c%d"}]`},
			"Give `s` in each of `v` as one of \"open\", \"done\", \"held\", not \"closed\", \"shut\"",
			map[string]bool{`[{"s":"open"},{"s":"done"}]`: false, `[{"s":"open"},{"s":"shut"}]`: true, `[{"s":"new"},{"s":"open"}]`: false, `[]`: false},
		},
		{
			"an element that is none of some values",
			[]string{`["id"]`, `["name","id"]`, `["total"]`},
			[]string{`["id","nme"]`, `["amount"]`},
			"Give each of `v` as one of \"id\", \"name\", \"total\", not \"amount\", \"nme\"",
			map[string]bool{`["total","name"]`: false, `["total","nme"]`: true, `["other"]`: false, `"nme"`: false},
		},
		{
			"a member in another form",
			[]string{`[{"ref":"A%d"}]`, `[{"ref":"B7"},{"ref":"CC%d"}]`},
			[]string{`[{"ref":"B7"},{"ref":"7-%d"}]`, `[{"ref":"%dB"}]`},
			"Write `ref` in each of `v` like `A0` or `A00` or `AA0` or `AA00` (A a letter, 0 a digit)",
			map[string]bool{`[{"ref":"Q8"},{"ref":"D12"}]`: false, `[{"ref":"Q8"},{"ref":"9-12"}]`: true},
		},
		{
			"a number over a bound",
			[]string{`[{"n":3},{"n":%d}]`},
			[]string{`[{"n":2},{"n":12%d}]`, `[{"n":13%d}]`},
			"Keep `n` in each of `v` at most 38 (38 worked, 123 and more failed)",
			map[string]bool{`[{"n":2},{"n":30}]`: false, `[{"n":2},{"n":300},{"n":1}]`: true, `[{"n":60}]`: false},
		},
		{
			"a number over a bound, of one element",
			[]string{`[{"n":3},{"n":%d}]`, `[{"n":4}]`},
			[]string{`[{"n":12%d}]`, `[{"n":13%d}]`},
			"Keep `n` in each of `v` at most 38 (38 worked, 123 and more failed)",
			map[string]bool{`[{"n":30}]`: false, `[{"n":300}]`: true},
		},
		{
			"a number under a bound",
			[]string{`[%d,7]`},
			[]string{`[9,-12%d]`, `[-13%d,5]`},
			"Keep each of `v` at least 0 (0 worked, -123 and less failed)",
			map[string]bool{`[0,8]`: false, `[8,-200]`: true},
		},
		{
			"one of several types",
			[]string{`["a","b%d"]`},
			[]string{`["a",3]`, `["b%d",4,5]`},
			"Give each of `v` as text",
			map[string]bool{`["c","d"]`: false, `["c",7]`: true},
		},
		{
			"a number as a text",
			[]string{`[{"n":3},{"n":%d}]`},
			[]string{`[{"n":"3"},{"n":%d}]`, `[{"n":"3"}]`},
			"Give `n` in each of `v` as a whole number",
			map[string]bool{`[{"n":2},{"n":30}]`: false, `[{"n":2},{"n":"30"}]`: true},
		},
		{
			"an element of a list in a list, of another type",
			[]string{`[["a%d","b"],["c"]]`},
			[]string{`[["a",3]]`, `[["b%d"],["c",4]]`},
			"Give each element of the lists in `v` as text",
			map[string]bool{`[["c"],["d"]]`: false, `[["c"],["d",7]]`: true},
		},
		{
			"a member of an element of a list in a list",
			[]string{`[[{"n":3}],[{"n":%d}]]`},
			[]string{`[[{"n":12%d},{"n":1}]]`, `[[{"n":2}],[{"n":13%d}]]`},
			"Keep `n` in each of `v` at most 38 (38 worked, 123 and more failed)",
			map[string]bool{`[[{"n":30}]]`: false, `[[{"n":2}],[{"n":300}]]`: true},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var calls []Call
			for i := range 40 {
				v, message := c.good[i%len(c.good)], ""
				if i%4 == 3 {
					v, message = c.bad[i/4%len(c.bad)], "E31"
				}
				if strings.Contains(v, "%") {
					v = fmt.Sprintf(v, i)
				}
				calls = append(calls, call(i, `{"v":`+v+`}`, message))
			}
			found := Find("own", calls)
			if len(found) != 1 || found[0].Line != c.line || found[0].Calls != 10 || found[0].Good != 0 {
				t.Fatalf("told %q, want %q", lines(found), c.line)
			}
			for v, warns := range c.warns {
				p := Plan(&Call{Input: json.RawMessage(`{"v":` + v + `}`)})
				if got := found[0].Holds(p) && !found[0].Untried(p); got != warns {
					t.Errorf("%s: warned of %v", v, got)
				}
				if edits := found[0].Mend(p, nil); len(edits) > 0 {
					t.Errorf("%s: changed by %v", v, edits)
				}
			}
		})
	}
}

// Paths in a list begin as they have to, each of them.
func TestAMarkThatElementsBeginWithIsToldOfTheList(t *testing.T) {
	var calls []Call
	for i := range 40 {
		calls = append(calls, good(i, fmt.Sprintf(`{"files":["lib/a%d.py","b%d.py"]}`, i, i%7)))
	}
	for i := range 6 {
		calls = append(calls, bad(40+i, fmt.Sprintf(`{"files":["lib/a%d.py","/repo/c%d.py"]}`, i, i), "outside the repository"))
	}
	found := Find("own", calls)
	if got := lines(found); got != "Give no element of `files` that begins with \"/\"\n" {
		t.Fatalf("got %q", got)
	}
	for given, breaks := range map[string]bool{`["x.py","/y.py"]`: true, `["/x.py"]`: true, `["x.py","y/z.py"]`: false} {
		if found[0].Holds(Plan(&Call{Input: []byte(`{"files":` + given + `}`)})) != breaks {
			t.Errorf("%s is told: %t", given, !breaks)
		}
	}
}
