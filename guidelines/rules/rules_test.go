package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// call is a call of run i; message "" is a good one.
func call(i int, input, message string) Call {
	return Call{Input: json.RawMessage(input), Message: message, Bad: message != "", Run: uint64(i/2 + 1)} //nolint:gosec // small
}

func lines(rules []Rule) string {
	var b strings.Builder
	for i := range rules {
		b.WriteString(rules[i].Line + "\n")
	}
	return b.String()
}

// A tool that was never called well refuses one thing after the other: what the second message
// names is held against the calls of the first.
func TestCallsThatWentWrongInAnotherWayBearOutWhatAMessageNames(t *testing.T) {
	var calls []Call
	for i := range 4 {
		calls = append(
			calls,
			call(2*i, `{"files":[{"path":"a"}]}`, "'file_path' is a required property"),
			call(2*i, `{"files":[{"file_path":"a"}]}`, "'ranges' is a required property"),
			call(2*i, `{"files":[{"file_path":"a","ranges":[{"line":1}]}]}`, "'start' is a required property"),
			call(2*i, `{"files":[{"file_path":"a","ranges":[{"start":1}]}]}`, "File not found: a"),
		)
	}
	got := lines(Find("read", calls))
	for _, want := range []string{
		"Give `file_path`, not `path`, in each of `files`", "Always give `ranges` in each of `files`",
		"Give `start`, not `line`, in each of `files.ranges`",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	for i := range calls {
		calls[i].Message = "E" + strconv.Itoa(i%4) // the control: nothing is named
	}
	if got := Find("read", calls); len(got) > 0 {
		t.Errorf("no call went well, and no message names a parameter:\n%s", lines(got))
	}
}

func TestConditionsThatCallsBearOutBecomeRules(t *testing.T) {
	for _, tc := range []struct {
		name string
		// call gives the input and the message of call i.
		call func(i int) (input, message string)
		want string
	}{
		{"a parameter that is missing", func(i int) (string, string) {
			if i%4 == 0 {
				return `{"q":"a"}`, "x1"
			}
			return fmt.Sprintf(`{"q":"a","customer":"c%d"}`, i%5), ""
		}, "Always give `customer`"},
		{"a parameter that is missing and had a few values alone", func(i int) (string, string) {
			if i%4 == 0 {
				return `{"q":"a"}`, "x1"
			}
			return fmt.Sprintf(`{"q":"a","force":true,"kind":%q}`, []string{"new", "old"}[i/4%2]), ""
		}, "Always give `force` and `kind`"},
		{"a switch that is missing", func(i int) (string, string) {
			if i%4 == 0 {
				return `{"q":"a"}`, "x1"
			}
			return `{"q":"a","force":true}`, ""
		}, "Always give `force`, such as true"},
		{"a parameter that is missing, of two values of which one was given once", func(i int) (string, string) {
			if i%4 == 0 {
				return `{"q":"a"}`, "x1"
			}
			return fmt.Sprintf(`{"q":"a","kind":%q}`, []string{"new", "old"}[max(0, 2-i)]), ""
		}, "Always give `kind`"},
		{"a parameter of two values that is missing", func(i int) (string, string) {
			if i%4 == 0 {
				return `{"q":"a"}`, "x1"
			}
			return fmt.Sprintf(`{"q":"a","kind":%q}`, []string{"new", "old"}[i/4%2]), ""
		}, `Always give ` + "`kind`" + `, such as "new" or "old"`},
		{"a bound that a message in any language names", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"n":%d}`, 55+i), "大于50"
			}
			return fmt.Sprintf(`{"n":%d}`, 7+i*17%39), ""
		}, "Keep `n` at most 50"},
		{"a number that is the line of a file", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"n":%d}`, 55+i), "rsa_kmgmt.c:50:"
			}
			return fmt.Sprintf(`{"n":%d}`, 7+i*17%39), ""
		}, "Keep `n` at most 45 (45 worked, 55 and more failed)"},
		{"a bound that no message names", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"n":%d}`, 55+i), "E77"
			}
			return fmt.Sprintf(`{"n":%d}`, 7+i*17%39), ""
		}, "Keep `n` at most 45 (45 worked, 55 and more failed)"},
		{"a member that an element of a list misses", func(i int) (string, string) {
			switch i % 4 {
			case 0:
				return `{"files":[{"file_path":"a","n":1},{"n":1}]}`, "x1"
			case 1:
				return `{"files":[]}`, ""
			}
			return `{"files":[{"file_path":"a"},{"file_path":"b","n":1}]}`, ""
		}, "Always give `file_path` in each of `files`, such as \"a\" or \"b\""},
		{"a value that is none of many that worked", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"zone":%q}`, []string{"PST", "London", "GMT+2"}[i/4%3]), "E1"
			}
			zones := "Asia/Tokyo Asia/Dubai Europe/Rome Europe/London America/Lima America/Bogota UTC Africa/Cairo Asia/Seoul"
			return fmt.Sprintf(`{"zone":%q}`, strings.Fields(zones)[i%9]), ""
		}, `Give ` + "`zone`" + ` as a value that worked, such as "America/Bogota", "Asia/Dubai", "America/Lima", "Asia/Tokyo", "Europe/London", "Europe/Rome", "UTC", "Africa/Cairo", not "London", "PST"`},
		{"a first word, of texts that are otherwise free", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"query":"%s %s"}`, []string{"DELETE FROM", "PRAGMA"}[i/4%2], strings.Repeat("b", i%9+9)), "E1"
			}
			return fmt.Sprintf(`{"query":"SELECT %s FROM t"}`, strings.Repeat("a", i%11+1)), ""
		}, "Begin `query` with \"SELECT\""},
		{"the mark before paths whose first words may not be told", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"to":"srv/app%d/a"}`, i), "E1"
			}
			return fmt.Sprintf(`{"to":"/srv/app%d"}`, i), ""
		}, "Begin `to` with \"/\""},
		{"a bracket that is not closed", func(i int) (string, string) {
			if i%6 == 0 {
				return fmt.Sprintf(`{"filter":"map(.%s"}`, strings.Repeat("b", i%7+1)), "E1 near " + strings.Repeat(" ", i)
			}
			return fmt.Sprintf(`{"filter":"map(.%s)"}`, strings.Repeat(string(rune('a'+i%11)), i%7+1)), ""
		}, "End `filter` with \")\""},
		{"words that messages name, and that no good call had", func(i int) (string, string) {
			if w := []string{"name.due", "total", "pay"}[i%3]; i%5 == 0 && (w != "pay" || i == 5 || i == 20) {
				return fmt.Sprintf(`{"query":"SELECT %s FROM sales LIMIT 77"}`, w), "no such column in sales, limit 77: " + w
			}
			return fmt.Sprintf(`{"query":"SELECT %s FROM sales LIMIT %d"}`, strings.Repeat("a", i%11+2), i+1), ""
		}, "Write `query` without `total`, `name` or `due`"},
		{"two parameters that exclude each other", func(i int) (string, string) {
			switch i % 4 {
			case 0:
				return `{"a":"x","b":"y"}`, "no"
			case 1:
				return `{"b":"y"}`, ""
			}
			return `{"a":"x"}`, ""
		}, "Give `a` or `b`, not both"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var calls []Call
			for i := range 60 {
				input, message := tc.call(i)
				calls = append(calls, call(i, input, message))
			}
			if got := lines(Find("own", calls)); !strings.Contains(got, tc.want+"\n") {
				t.Errorf("got %q, want the line %q", got, tc.want)
			}
		})
	}
}

// What a tool writes before each of its messages names no word of a call that happens to have it.
func TestAToolsOwnWordInItsMessagesIsNoWordToLeaveOut(t *testing.T) {
	var calls []Call
	for i := range 60 {
		command, message := []string{"ls ", "cat a.txt | wc ", "find . -name=", "V=1 ./x "}[i%4]+strings.Repeat("ab-", i%7), ""
		switch i % 6 {
		case 0:
			command, message = fmt.Sprintf("sh job%d", i), "sh: cannot find job"+strconv.Itoa(i)
		case 1:
			command, message = fmt.Sprintf("The files of %d", i), "sh: The: not found"
		default:
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"command":%q}`, command), message))
	}
	if got, want := lines(Find("own", calls)), "Write `command` without `The`"; !strings.Contains(got, want+"\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A branch is there from the start, or was made in the run. That calls with one that is there went
// wrong in another way, too, does not hide it.
func TestWhatIsThereFromTheStartMayAlsoGoWrongInAnotherWay(t *testing.T) {
	var calls []Call
	for i := range 60 {
		branch, message, seen := "main", "", Seen{}
		switch i % 6 {
		case 0:
			branch, message = "feature-"+strconv.Itoa(i), "no such branch"
		case 1:
			branch, seen.Last = "feature-"+strconv.Itoa(i), []Used{{Path: "branch", In: "create_branch branch"}}
		case 2:
			message = map[bool]string{true: "changes would be lost"}[i%12 == 2]
		case 3:
			branch = "release-1.2.0" // which no line may tell
		default:
		}
		c := call(i, fmt.Sprintf(`{"branch":%q}`, branch), message)
		c.Seen, c.Named = seen, true
		calls = append(calls, c)
	}
	want := "Give a `branch` that the run last used in `create_branch`, or \"main\"\n"
	if got := lines(Find("checkout", calls)); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for i := range calls { // and where none may be told, nothing is
		calls[i].Input = bytes.Replace(calls[i].Input, []byte("main"), []byte("Anna-Schmidt"), 1)
	}
	if got := lines(Find("checkout", calls)); strings.Contains(got, "create_branch") {
		t.Errorf("the line leaves out most of what works: %q", got)
	}
}

// Of where a value came from, only values like identifiers tell.
func TestGoodCallsWithOtherValuesDoNotBearOutWhereOneCameFrom(t *testing.T) {
	var calls []Call
	for i := range 60 {
		c := call(i, `{"branch":"main"}`, "")
		if c.Named = true; i%10 == 0 {
			c = call(i, fmt.Sprintf(`{"branch":"release_%d"}`, i), map[bool]string{true: "changes would be lost"}[i > 0])
			c.Named = true
			if i == 10 {
				c.Bad, c.Message, c.Sources = false, "", []Source{{Path: "branch", Tool: "list"}}
			}
		}
		calls = append(calls, c)
	}
	if got := lines(Find("checkout", calls)); strings.Contains(got, "Copy") {
		t.Errorf("two good calls gave a value that can be held against it, and one not from an answer: %q", got)
	}
}

// A zone that worked for others is not the one that the caller meant.
func TestOneOfManyValuesIsNoSuggestion(t *testing.T) {
	for values, want := range map[int]bool{4: true, 12: false} {
		var calls []Call
		for i := range 72 {
			zone, message := "zone-"+string(rune('a'+i%values)), ""
			if i%4 == 0 {
				zone, message = "PST", "E1"
			}
			calls = append(calls, call(i, fmt.Sprintf(`{"zone":%q}`, zone), message))
		}
		found := Find("convert", calls)
		if len(found) == 0 {
			t.Fatalf("%d values: no rule", values)
		}
		edits := found[0].Mend(Plan(&Call{Input: json.RawMessage(`{"zone":"PST"}`)}), nil)
		if (len(edits) > 0) != want {
			t.Errorf("%d values: %q suggests %v", values, found[0].Line, edits)
		}
	}
}

// Of many values that worked, hardly one of which may be told, none is.
func TestAFewOfManyValuesAreNoAdvice(t *testing.T) {
	var calls []Call
	for i := range 60 {
		when, message := []string{
			"tomorrow", "next monday", "last friday", "a week ago", "the day after", "next year in june", "an hour from now", "at noon", "this evening at six",
		}[i%9], ""
		if i%4 == 0 {
			when, message = []string{"31/12/26", "Q1 of it", "end of month?"}[i/4%3], "E1"
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"when":%q}`, when), message))
	}
	if got := lines(Find("date", calls)); strings.Contains(got, "tomorrow") {
		t.Errorf("got %q", got)
	}
}

func TestMessagesThatDifferInBlanksAreOfOneKind(t *testing.T) {
	a, _ := kindOf("", "no end near  \n  a", nil)
	if b, _ := kindOf("", "no end near a ", nil); a != b {
		t.Errorf("%q and %q", a, b)
	}
}

// Each way of failing is too rare to bear the condition out; all together they do.
func TestAConditionOnAllFailuresIsBorneOutByThemAll(t *testing.T) {
	var calls []Call
	for i := range 40 {
		mode, message := "fast", ""
		if i%5 == 0 {
			mode, message = "slow", []string{"no power", "too hot", "no fuel", "jammed"}[i/5%4]
		}
		var more strings.Builder // parameters that might be to blame as well
		for p := range 16 {
			fmt.Fprintf(&more, `,"%c":"%c%c"`, 'a'+p, 'a'+i*(p+3)%7, 'a'+i*(p+5)%11)
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"mode":%q%s}`, mode, more.String()), message))
	}
	if got := lines(Find("own", calls)); got != "Do not give `mode` as \"slow\"; \"fast\" worked\n" {
		t.Errorf("got %q", got)
	}
}

func TestOneLieAmongGoodCallsIsNoRuleAndThePlantedConditionIs(t *testing.T) {
	var calls []Call
	for i := range 60 {
		calls = append(calls, call(i, `{"mode":"fast"}`, ""))
	}
	calls = append(calls, call(60, `{"mode":"evil"}`, "mode must be other"))
	if got := Find("own", calls); len(got) != 0 {
		t.Fatalf("one failed call made rules: %q", lines(got))
	}
	for i := range 6 {
		calls = append(calls, call(61+2*i, `{"mode":"slow"}`, "mode slow is closed"))
	}
	if got := Find("own", calls); len(got) == 0 || !got[0].Holds(Plan(&Call{Input: json.RawMessage(`{"mode":"slow"}`)})) {
		t.Fatalf("the planted condition was not found: %q", lines(got))
	}
}

func TestTenGoodCallsThatContradictARuleRemoveIt(t *testing.T) {
	var calls []Call
	for i := range 40 {
		message := ""
		input := `{"q":"a","customer":"c"}`
		if i%4 == 0 {
			input, message = `{"q":"a"}`, "x1"
		}
		calls = append(calls, call(i, input, message))
	}
	if len(Find("own", calls)) == 0 {
		t.Fatal("the rule was not found before the change")
	}
	for i := range 10 {
		calls = append(calls, call(40+i, `{"q":"a"}`, ""))
	}
	if got := Find("own", calls); len(got) != 0 {
		t.Errorf("still said after ten good calls: %q", lines(got))
	}
}

func BenchmarkFind(b *testing.B) {
	var calls []Call
	for i := range 2000 {
		message := ""
		if i%5 == 0 {
			message = "over 50"
		}
		calls = append(calls, call(i, fmt.Sprintf(`{"a":%d,"b":"x%d","c":%d,"d":"2027-01-02","e":"on","f":"k"}`, i%60, i%9, i), message))
	}
	for b.Loop() {
		Find("own", calls)
	}
}

func TestTextsThatAreNoDatesHaveNoOrder(t *testing.T) {
	var calls []Call
	for i := range 24 {
		if i%2 == 0 {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"id":"a%d","mode":"list"}`, i), "x1"))
		} else {
			calls = append(calls, call(2*i, fmt.Sprintf(`{"id":"z%d","mode":"list"}`, i), ""))
		}
	}
	if got := lines(Find("own", calls)); strings.Contains(got, "before") {
		t.Errorf("an order of words is published: %q", got)
	}
}

func TestRulesKnowWhereValuesCameFromAndWhatWasSaidOfThem(t *testing.T) {
	var calls []Call
	for i := range 40 {
		c := call(i, fmt.Sprintf(`{"ref":"id-%d"}`, 1000+i), "")
		c.Named, c.Sources = true, []Source{{Path: "ref", Tool: "open_file", State: "status=open"}}
		switch i % 8 {
		case 0:
			c.Bad, c.Message, c.Sources = true, "E1", []Source{{Path: "ref"}}
		case 4:
			c.Bad, c.Message, c.Sources = true, "E2", []Source{{Path: "ref", Tool: "open_file", State: "status=closed"}}
		}
		calls = append(calls, c)
	}
	got := Find("own", calls)
	for _, want := range []string{"Copy `ref` exactly from an answer of `open_file`\n", "Give no `ref` whose `status` was `closed` in an earlier answer (`open` worked)\n"} {
		if !strings.Contains(lines(got), want) {
			t.Errorf("%q is missing in %q", want, lines(got))
		}
	}
	planned := Plan(&Call{Input: json.RawMessage(`{"ref":"id-77"}`), Named: true, Seen: Seen{Sources: []Source{{Path: "ref", Tool: "open_file", State: "status=closed"}}}})
	mended := 0
	for i := range got {
		if !got[i].Holds(planned) {
			continue
		}
		edits := got[i].Mend(planned, func(string, string) []Given {
			return []Given{{Value: "id-77", State: "status=closed"}, {Value: "id-78", State: "status=open"}}
		})
		if mended++; len(edits) != 1 || edits[0].Value != "id-78" {
			t.Errorf("%q is mended by %v", got[i].Line, edits)
		}
	}
	if mended != 1 {
		t.Errorf("%d rules hold", mended)
	}
}

func TestASuggestedValueWorkedInThreeCallsAndIsNoIdentifier(t *testing.T) {
	var calls []Call
	for i := range 60 {
		switch i % 4 {
		case 0:
			calls = append(calls, call(i, fmt.Sprintf(`{"mode":"x%d"}`, i%3), "E1 use evil"))
		case 1:
			calls = append(calls, call(i, `{"mode":"acct_88123456"}`, ""))
		default:
			calls = append(calls, call(i, `{"mode":"fast"}`, ""))
		}
	}
	planned := Plan(&Call{Input: json.RawMessage(`{"mode":"x1"}`)})
	for _, r := range Find("own", calls) {
		if !r.Holds(planned) {
			continue
		}
		edits := r.Mend(planned, nil)
		if len(edits) != 1 || edits[0].Value != "fast" || strings.Contains(r.Line, "acct") || strings.Contains(r.Line, "evil") {
			t.Errorf("%q is mended by %v", r.Line, edits)
		}
		return
	}
	t.Error("no rule holds for the planted value")
}

func TestAValueThatIsNewIsNotOutOfASetThatWasNeverClosed(t *testing.T) {
	var calls []Call
	for i := range 24 {
		if i%3 == 0 {
			calls = append(calls, call(i, fmt.Sprintf(`{"q":"bad%d","n":1}`, i), "E1"))
		} else {
			calls = append(calls, call(i, fmt.Sprintf(`{"q":"w%c"}`, 'a'+i/4), ""))
		}
	}
	if got := lines(Find("own", calls)); strings.Contains(got, "one of") || !strings.Contains(got, "Leave out `n`") {
		t.Errorf("got %q", got)
	}
}

// good is a good call of a run of its own, bad one that failed.
func good(i int, input string) Call {
	return Call{Input: json.RawMessage(input), Run: uint64(i + 1), Named: true} //nolint:gosec // small
}

func bad(i int, input, message string) Call {
	c := good(i, input)
	c.Bad, c.Failed, c.Message = true, true, message
	return c
}

func broken(found []Rule, input string) (out []Rule) {
	for i := range found {
		if found[i].Holds(Plan(&Call{Input: json.RawMessage(input)})) {
			out = append(out, found[i])
		}
	}
	return out
}

func TestTwoFailuresOfTwoRunsAreToldAndTwoOfOneRunAreNot(t *testing.T) {
	for _, second := range []int{50, 51} {
		var calls []Call
		for i := range 30 {
			calls = append(calls, good(i, fmt.Sprintf(`{"amount":%d}`, 20+i%20)))
		}
		calls = append(calls, bad(50, `{"amount":90}`, "E1"), bad(second, `{"amount":80}`, "E1"))
		if got := broken(Find("own", calls), `{"amount":85}`); (len(got) > 0) != (second == 51) {
			t.Errorf("second failure in run %d: %q", second, lines(got))
		}
	}
}

func TestBetweenWhatWorkedAndWhatFailedTheNearerCounts(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"amount":%d}`, 20+i%21)))
	}
	for i := range 3 {
		calls = append(calls, bad(50+i, fmt.Sprintf(`{"amount":%d}`, 100+i), "E1"))
	}
	found := Find("own", calls)
	if len(broken(found, `{"amount":45}`)) > 0 || len(broken(found, `{"amount":95}`)) == 0 {
		t.Errorf("45 and 95 between 40 that worked and 100 that failed: %q", lines(found))
	}
}

func TestOfManyKindsOfFailuresFewRulesAreLeftToChance(t *testing.T) {
	rule := func(chance float64) Rule { return Rule{chance: chance} }
	if got := discovered([]Rule{rule(0.001), rule(0.09)}, 2); len(got) != 2 {
		t.Errorf("%d of two rules for two kinds", len(got))
	}
	if got := discovered([]Rule{rule(0.001), rule(0.09)}, 9); len(got) != 1 || got[0].chance != 0.001 {
		t.Errorf("%d rules for nine kinds", len(got))
	}
}

func TestAChangedToolIsNotMendedWithWhatItRefusesNow(t *testing.T) {
	var calls []Call
	for i := range 30 {
		calls = append(calls, good(i, fmt.Sprintf(`{"mode":%q}`, []string{"amber", "delta", "kelp"}[i%3])))
	}
	for i := range 3 {
		calls = append(calls, bad(40+i, `{"mode":"opal"}`, "no opal"))
	}
	planned := func() *Planned { return Plan(&Call{Input: json.RawMessage(`{"mode":"opal"}`)}) }
	suggests := func() (n int) {
		found := Find("own", calls)
		for i := range found {
			n += len(found[i].Mend(planned(), nil))
		}
		return n
	}
	if suggests() == 0 {
		t.Fatal("nothing is suggested before the change")
	}
	for i := range 2 {
		calls = append(calls, bad(60+i, `{"mode":"amber"}`, "no amber"))
	}
	if suggests() != 0 {
		t.Error("a value is suggested while others that worked are refused")
	}
}

func TestThreeGoodCallsAgainstARuleEndIt(t *testing.T) {
	var calls []Call
	for i := range 100 {
		calls = append(calls, good(i, `{"mode":"amber"}`))
	}
	for i := range 4 {
		calls = append(calls, bad(140+i, `{"mode":"opal"}`, "no opal"))
	}
	for n := range 4 {
		found := broken(Find("own", calls), `{"mode":"opal"}`)
		if (len(found) > 0) != (n < contradictions) || len(found) > 0 && found[0].Against(nil) != n {
			t.Errorf("after %d good calls against it: %d rules, %+v", n, len(found), found)
		}
		calls = append(calls, good(160+n, `{"mode":"opal"}`))
	}
	r := Rule{against: 2}
	if r.Against([]bool{true}) != 3 || r.Against([]bool{true, false, true}) != 1 {
		t.Error("calls since a rule was found are not counted on")
	}
}

// The step that a message tells stands in the line where good calls keep to it.
func TestAStepThatAMessageTellsStandsInTheLine(t *testing.T) {
	for said, want := range map[string]string{"E17": "in steps of 40", "n goes in steps of 20": "in steps of 20", "n goes in steps of 30": "in steps of 40"} {
		var calls []Call
		for i := range 20 {
			calls = append(calls, good(i, fmt.Sprintf(`{"n":%d}`, 40*(1+i%5))))
		}
		for i, n := range []int{41, 83, 124, 7} {
			calls = append(calls, bad(60+i, fmt.Sprintf(`{"n":%d}`, n), said))
		}
		if got := lines(Find("own", calls)); !strings.Contains(got, want) {
			t.Errorf("%s: %q", said, got)
		}
	}
}

// A set of values that grows without a failure is no set.
func TestGoodCallsWithNewValuesSpeakAgainstASetOfThem(t *testing.T) {
	var calls []Call
	for i := range 60 {
		calls = append(calls, good(i, fmt.Sprintf(`{"mode":%q}`, []string{"amber", "delta", "kelp"}[i%3])))
	}
	for i := range 4 {
		calls = append(calls, bad(100+i, fmt.Sprintf(`{"mode":%q}`, []string{"opal", "pine"}[i%2]), "E17"))
	}
	for n, value := range []string{"", "lotus", "maple", "nickel"} {
		if value != "" {
			calls = append(calls, good(140+n, fmt.Sprintf(`{"mode":%q}`, value)), good(150+n, fmt.Sprintf(`{"mode":%q}`, value)))
		}
		if found := broken(Find("own", calls), `{"mode":"quartz"}`); (len(found) > 0) != (n < contradictions) || len(found) > 0 && found[0].Against(nil) != n {
			t.Errorf("after %d new values that worked: %+v", n, found)
		}
	}
}

// Where all good numbers are multiples of 40, and those that failed of 1 and 4 only, steps of
// 20 may work, whatever the messages tell: a tool may change, and agents that heed a message
// never try what it refused.
func TestAStepBetweenThoseThatWorkedAndFailedIsUnknown(t *testing.T) {
	for _, said := range []string{"E17", "n goes in steps of 40", "n goes in steps of 20"} {
		var calls []Call
		for i := range 40 {
			calls = append(calls, good(i, fmt.Sprintf(`{"n":%d}`, 40*(1+i%9))))
		}
		for i, n := range []int{161, 284, 93} {
			calls = append(calls, bad(60+i, fmt.Sprintf(`{"n":%d}`, n), said))
		}
		found := Find("own", calls)
		for n, want := range map[int]bool{161: true, 44: true, 60: false, 80: false} {
			if got := broken(found, fmt.Sprintf(`{"n":%d}`, n)); (len(got) > 0) != want {
				t.Errorf("%s: %d breaks %q", said, n, lines(got))
			}
		}
	}
}

func TestANumberIsHeldAgainstWhatAnEarlierAnswerGaveBesideAnIdentifier(t *testing.T) {
	var calls []Call
	for i := range 40 {
		balance := 40 + i*17%89
		amount := balance - i*11%31
		c := good(i, fmt.Sprintf(`{"account":"acc_%d","amount":%d}`, 100+i, amount))
		if i%8 == 3 {
			c = bad(i, fmt.Sprintf(`{"account":"acc_%d","amount":%d}`, 100+i, balance+20), "E7")
		}
		c.Sources = []Source{{Path: "account", Tool: "open_account", State: fmt.Sprintf("status=live balance=%d", balance)}}
		calls = append(calls, c)
	}
	planned := func(amount int, state string) *Planned {
		return Plan(&Call{Input: json.RawMessage(fmt.Sprintf(`{"account":"acc_7","amount":%d}`, amount)), Named: true, Seen: Seen{Sources: []Source{{Path: "account", Tool: "open_account", State: state}}}})
	}
	found := Find("own", calls)
	if !strings.Contains(lines(found), "Keep `amount` at most the `balance` that an earlier answer gave for `account`") {
		t.Fatalf("got %q", lines(found))
	}
	for i := range found {
		if r := &found[i]; r.when.what == exceeds {
			if !r.Holds(planned(60, "balance=50")) || r.Holds(planned(40, "balance=50")) || r.Holds(planned(60, "")) || !r.About() {
				t.Error("it holds for the wrong calls")
			}
			if edits := r.Mend(planned(60, "balance=50"), nil); len(edits) != 1 || edits[0].Value != 50.0 {
				t.Errorf("mended with %v", edits)
			}
		}
	}
}

// What one call was refused for is a hint after two good calls already, if its message names
// the parameter: for its own value, with no bound between.
func TestAFirstRefusalIsAHintAfterFewGoodCalls(t *testing.T) {
	calls := []Call{call(0, `{"mode":"fast"}`, ""), call(2, `{"mode":"slow"}`, "mode slow is closed"), call(4, `{"mode":"fast"}`, "")}
	if found := Find("own", calls); len(found) != 0 {
		t.Fatalf("one failure made rules: %q", lines(found))
	}
	hints := Hints("own", calls, nil)
	holds := func(mode string) bool {
		for i := range hints {
			if hints[i].Holds(Plan(&Call{Input: json.RawMessage(`{"mode":"` + mode + `"}`)})) {
				return true
			}
		}
		return false
	}
	if !holds("slow") || holds("fast") {
		t.Errorf("hints %q", lines(hints))
	}
}

// Where several tools give the values that worked, the rule names the one that gave most.
func TestARuleOnValuesOfSeveralToolsNamesTheOneThatGivesMost(t *testing.T) {
	t.Parallel()
	var calls []Call
	for i := range 24 {
		c := Call{Input: fmt.Appendf(nil, `{"unit":"id-%d"}`, 1000+i), Run: uint64(i/2 + 1), Named: true, Seen: Seen{Sources: []Source{{Path: "unit", Tool: []string{"open_quota", "open_quota", "open_lot"}[i%3]}}}}
		if i%4 == 3 {
			c.Bad, c.Failed, c.Message, c.Sources[0].Tool = true, true, "E9401", ""
		}
		calls = append(calls, c)
	}
	found := Find("stage", calls)
	if len(found) != 1 || found[0].Line != "Copy `unit` exactly from an earlier answer, mostly of `open_quota`" {
		t.Errorf("found %+v", found)
	}
}

// A search for an empty value in a message never ended.
func TestAnEmptyValueStandsInNoMessage(t *testing.T) {
	var calls []Call
	for i := range 40 {
		input, message := fmt.Sprintf(`{"address2":"suite %d"}`, i%3), ""
		switch {
		case i == 7:
			input = `{"address2":""}`
		case i%4 == 0:
			message = "order not found"
		}
		calls = append(calls, call(i, input, message))
	}
	Find("t", calls)
	if Named("order not found", "") {
		t.Error("an empty name stands in a message")
	}
}

// Of many tools that use a value there is one after which it no longer works: that one is told, for
// there are too many others to name.
func TestTheOneUseAfterWhichAValueFailsIsTold(t *testing.T) {
	var calls []Call
	for i := range 60 {
		c := call(i, fmt.Sprintf(`{"pid":"p%d"}`, i%7), "")
		c.Last = []Used{{Path: "pid", In: fmt.Sprintf("look%c pid", 'a'+i%12)}}
		if i%5 == 0 {
			c.Last[0].In, c.Message, c.Bad = "stop pid", "no such process", true
		}
		calls = append(calls, c)
	}
	if got, want := lines(Find("own", calls)), "Give no `pid` that the run last used in `stop`\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What one source alone reports counts no more than a few calls, but no less the more it reports.
func TestManyCallsOfOneSourceShowNoLessThanFew(t *testing.T) {
	for _, n := range []int{60, 350} {
		var calls []Call
		for i := range n {
			c := call(i, fmt.Sprintf(`{"path":"p%d"}`, i%7), "")
			c.Source = 5
			uses := []string{"write", "append", "", "delete", "rename", "move", "", ""}
			if use := uses[i%len(uses)]; use != "" {
				c.Last = []Used{{Path: "path", In: use + " path"}}
			}
			if i%len(uses) > 1 {
				c.Message, c.Bad = "no such file", true
			}
			calls = append(calls, c)
		}
		if got, want := lines(Find("own", calls)), "Give a `path` that the run last used in `append` or `write`\n"; got != want {
			t.Errorf("%d calls: got %q, want %q", n, got, want)
		}
	}
}

// A branch can be checked out that the run has made; main is there from the start.
func TestAValueThatIsAlwaysThereNeedsNoUseBefore(t *testing.T) {
	var calls []Call
	for i := range 60 {
		name := []string{"main", "amber", "birch", "cedar"}[i%4]
		c := call(i, fmt.Sprintf(`{"branch":%q}`, name), "")
		if i%3 == 0 {
			c.Last = []Used{{Path: "branch", In: "create_branch branch"}}
		} else if name != "main" {
			c.Message, c.Bad = "did not match any", true
		}
		calls = append(calls, c)
	}
	if got, want := lines(Find("own", calls)), "Give a `branch` that the run last used in `create_branch`, or \"main\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
