package rules

import (
	"encoding/json"
	"fmt"
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
			return `{"q":"a","customer":"c"}`, ""
		}, "Always give `customer`"},
		{"a bound that a message in any language names", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"n":%d}`, 55+i), "大于50"
			}
			return fmt.Sprintf(`{"n":%d}`, 7+i*17%39), ""
		}, "Keep `n` at most 50"},
		{"a bound that no message names", func(i int) (string, string) {
			if i%4 == 0 {
				return fmt.Sprintf(`{"n":%d}`, 55+i), "E77"
			}
			return fmt.Sprintf(`{"n":%d}`, 7+i*17%39), ""
		}, "Keep `n` at most 45 (45 worked, 55 and more failed)"},
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
	if got := lines(Find("own", calls)); strings.Contains(got, "comes after") {
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
	planned := Plan(&Call{Input: json.RawMessage(`{"ref":"id-77"}`), Named: true, Sources: []Source{{Path: "ref", Tool: "open_file", State: "status=closed"}}})
	mended := 0
	for i := range got {
		if !got[i].Holds(planned) {
			continue
		}
		edits := got[i].Mend(planned, func(string, string) []Given { return []Given{{"id-77", "status=closed"}, {"id-78", "status=open"}} })
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
