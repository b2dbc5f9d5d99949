package rules

import (
	"encoding/json"
	"fmt"
	"slices"
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

// What parts the elements of a list that failed from those that worked is told as it is of parameters: where a value
// came from, what an element gives together, in which order, how long it is, and what holds for one of them alone.
func TestWhatIsToldOfParametersIsToldOfTheMembersOfElements(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, good, bad string // with the number of the call
		line            string
		breaks, keeps   string
	}{
		{
			"a value that no answer gave", `[{"h":"aa_%d"},{"h":"aa_0"}]`, `[{"h":"aa_0"},{"h":"aa_9%d"}]`,
			"Copy `h` in each of `v` exactly from an answer of `read`", `[{"h":"aa_0"},{"h":"aa_7"}]`, `[{"h":"aa_1"}]`,
		},
		{
			"how it begins", `[{"id":"new_%d"},{"id":"new_0"}]`, `[{"id":"new_0"},{"id":"old_%d"}]`,
			"Give no `id` in any of `v` that begins with \"old_\"; \"new_\" worked", `[{"id":"new_1"},{"id":"old_1"}]`, `[{"id":"new_1"}]`,
		},
		{
			"two that belong together", `[{"n":%d,"a":1,"b":2},{"n":1}]`, `[{"n":1},{"n":%d,"a":1}]`,
			"Give `a` and `b` in each of `v` together, or neither", `[{"a":1,"b":1},{"b":2}]`, `[{"a":1,"b":1},{}]`,
		},
		{
			"one after the other", `[{"from":%d,"to":1%d},{"from":200,"to":300}]`, `[{"from":1,"to":90},{"from":1%d,"to":%d}]`,
			"Keep `from` before `to` in each of `v`", `[{"from":1,"to":2},{"from":3,"to":2}]`, `[{"from":1,"to":2},{"from":3,"to":4}]`,
		},
		{
			"a length", `[{"c":"abc%c"},{"c":"abd"}]`, `[{"c":"abc"},{"c":"abcdefg%c"}]`,
			"Keep `c` in each of `v` at most 4 characters long (4 worked, 8 and more failed)", `[{"c":"abcdefghi"}]`, `[{"c":"ab"},{"c":"xyz"}]`,
		},
		{
			"what one kind of element needs", `[{"k":"new"},{"k":"old","id":%d}]`, `[{"k":"new"},{"k":"old"}]`,
			"Where `k` is \"old\", always give `id` in each of `v`", `[{"k":"new"},{"k":"old"}]`, `[{"k":"new"},{"k":"old","id":3}]`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			fill := func(form string, i int) string {
				if strings.Contains(form, "%c") {
					return fmt.Sprintf(form, 'a'+i%26)
				}
				return strings.ReplaceAll(form, "%d", fmt.Sprint(i))
			}
			var calls []Call
			for i := range 40 {
				v, message := fill(c.good, i), ""
				if i%4 == 3 {
					v, message = fill(c.bad, i), "E31"
				}
				one := call(i, `{"v":`+v+`}`, message)
				one.Sources = []Source{{Path: "v[].h", Tool: "read"}}
				if message != "" {
					one.Sources = append(one.Sources, Source{Path: "v[].h"})
				}
				calls = append(calls, one)
			}
			found := Find("own", calls)
			if len(found) == 0 || found[0].Line != c.line || found[0].Calls != 10 || found[0].Good != 0 {
				t.Fatalf("told %q, want %q", lines(found), c.line)
			}
			for v, breaks := range map[string]bool{c.breaks: true, c.keeps: false} {
				planned := Call{Input: json.RawMessage(`{"v":` + v + `}`)}
				if planned.Sources = []Source{{Path: "v[].h", Tool: "read"}}; breaks {
					planned.Sources = append(planned.Sources, Source{Path: "v[].h"})
				}
				if found[0].Holds(Plan(&planned)) != breaks {
					t.Errorf("%s breaks it: %t", v, !breaks)
				}
			}
		})
	}
}

// An id that stands in a list twice is refused; how often is no matter.
func TestAListThatNamesNothingTwiceIsTold(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"ids":["a%d","b%d","c"]}`, i, i)))
	}
	for i := range 6 {
		calls = append(calls, bad(30+i, fmt.Sprintf(`{"ids":["a%d","b%d","a%d"]}`, i, i, i), "found duplicates"))
	}
	found := Find("own", calls)
	if got := lines(found); got != "Give no element of `ids` twice\n" {
		t.Fatalf("got %q", got)
	}
	for given, breaks := range map[string]bool{`["x","y","x"]`: true, `[3,4,3,3]`: true, `["x","y"]`: false, `[]`: false, `"x"`: false} {
		if found[0].Holds(Plan(&Call{Input: []byte(`{"ids":` + given + `}`)})) != breaks {
			t.Errorf("%s is told: %t", given, !breaks)
		}
	}
}

// Where good calls named an element twice, that is not what went wrong.
func TestElementsThatStandTwiceInGoodCallsAreNotToBlame(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"ids":["a%d","a%d","c"]}`, i, i)))
	}
	for i := range 6 {
		calls = append(calls, bad(30+i, fmt.Sprintf(`{"ids":["a%d","a%d","a%d"]}`, i, i, i), "found duplicates"))
	}
	if got := lines(Find("own", calls)); strings.Contains(got, "twice") {
		t.Fatalf("got %q", got)
	}
}

// More elements than are compared leave those that are as they stand.
func TestTheElementsOfALongListAreKeptApart(t *testing.T) {
	var b strings.Builder
	for i := range 2 * maxElements {
		fmt.Fprintf(&b, `{"n":%d},`, i)
	}
	var r row
	r.read(&Call{Input: []byte(`{"v":[` + strings.TrimSuffix(b.String(), ",") + `]}`)})
	if len(r.elements["v"]) != maxElements {
		t.Fatalf("%d elements", len(r.elements["v"]))
	}
	for i := range r.elements["v"] {
		if got := r.elements["v"][i].get("v[].n"); got.num != float64(i) {
			t.Errorf("element %d gives %v", i, got)
		}
	}
}

// A guideline of an older program names the values of elements otherwise, and warns of the same calls.
func TestAStoredRuleOnElementsOfAnOlderProgramStillWarns(t *testing.T) {
	for stored, given := range map[string]string{
		`{"what":"not_in","p":"v[].s#each","set":["open"],"line":"x"}`: `[{"s":"open"},{"s":"shut"}]`,
		`{"what":"above","p":"v[].n#most","bound":5,"line":"x"}`:       `[{"n":3},{"n":9}]`,
		`{"what":"begins","p":"v[]#each","set":["/"],"line":"x"}`:      `["a","/b"]`,
		`{"what":"below","p":"v[]#least","bound":0,"line":"x"}`:        `[3,-9]`,
		`{"what":"not_in","p":"v[]#type","set":["text"],"line":"x"}`:   `["a",4]`,
		`{"what":"without","p":"v[].s","line":"x"}`:                    `[{"s":"open"},{"n":1}]`,
		`{"what":"above","p":"v#items","bound":1,"line":"x"}`:          `["a","b"]`,
		`{"what":"not_like","p":"v[].s#each","set":["A0"],"line":"x"}`: `[{"s":"b7"},{"s":"7b"}]`,
		`{"what":"begins","p":"v[].s#each","set":["no"],"line":"x"}`:   `[{"s":"b7"},{"s":"no7"}]`,
		`{"what":"above","p":"v[][].n#most","bound":5,"line":"x"}`:     `[[{"n":3},{"n":9}]]`,
		`{"what":"not_in","p":"v[][]#each","set":["open"],"line":"x"}`: `[["open"],["shut"]]`,
		`{"what":"is","p":"v[].a.b#each","set":["shut"],"line":"x"}`:   `[{"a":{"b":"open"}},{"a":{"b":"shut"}}]`,
	} {
		var r Rule
		if err := json.Unmarshal([]byte(stored), &r); err != nil {
			t.Fatal(err)
		}
		if !r.Holds(Plan(&Call{Input: []byte(`{"v":` + given + `}`)})) {
			t.Errorf("%s does not warn of %s", stored, given)
		}
	}
}

// Where all good calls gave both of two members, one of them is not enough, though messages name both.
func TestOneOfTwoIsEnoughOnlyWhereGoodCallsDidWithoutEach(t *testing.T) {
	for line, other := range map[string]string{
		"Always give `new` and `old` in each of `v`\n": `{"new":"b","old":"a%d"}`,
		"Give `new` or `old` in each of `v`\n":         `{"old":"a%d"}`,
	} {
		var calls []Call
		for i := range 30 {
			element := `{"new":"b","old":"a%d"}`
			switch i % 3 {
			case 1:
				element = other
			case 2:
				element = strings.Replace(other, "old", "new", strings.Count(other, ":")%2)
			}
			calls = append(calls, good(i, `{"v":[`+fmt.Sprintf(element, i)+`]}`))
		}
		for i := range 8 {
			calls = append(calls, bad(30+i, fmt.Sprintf(`{"v":[{"text":"t%d"}]}`, i), "give new, old"))
		}
		if got := lines(Find("own", calls)); got != line {
			t.Errorf("got %q, want %q", got, line)
		}
	}
}

// One refusal that names the member is enough for a hint, in a list as elsewhere.
func TestAHintTellsOfElementsThatAMessageNames(t *testing.T) {
	t.Parallel()
	for _, input := range []string{`{"kind":%q,"id":"%016x","score":%d}`, `{"data":[{"kind":%q,"id":"%016x","name":"tone","result":{"label":"good","score":%d}}]}`} {
		var calls []Call
		for i := range 60 {
			kind, message := []string{"CODE", "HUMAN", "LLM"}[i%3], ""
			if i == 20 {
				kind, message = "human", "kind: input should be 'LLM', 'CODE' or 'HUMAN'"
			}
			calls = append(calls, call(i, fmt.Sprintf(input, kind, i*7919, i%2), message))
		}
		hints := Hints("own", calls, Find("own", calls))
		for kind, warned := range map[string]bool{"human": true, "LLM": false} {
			p := Plan(&Call{Input: json.RawMessage(fmt.Sprintf(input, kind, 1, 1))})
			if got := slices.ContainsFunc(hints, func(h Rule) bool { return h.Holds(p) }); got != warned {
				t.Errorf("%q in %s is warned of: %v, by %q", kind, input, got, lines(hints))
			}
		}
	}
}
