package evidence_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// Where a tool's refusals are taken for answers, most of its answers may be lines of text:
// they are odd as long as a third are JSON, and a rule says what they are about.
func TestRefusalsThatAreTakenForAnswersAreOddThoughMostAnswersAreSuch(t *testing.T) {
	t.Parallel()
	mine := func(odd func(i int) bool) []rules.Rule {
		var calls []memoryd.Call
		for i := range 24 {
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "book"}, Key: memoryd.CallKey{byte(i), 1}, Seq: int64(i + 1), Success: true, Output: `{"rows":["a"],"count":1}`,
				Input: json.RawMessage(fmt.Sprintf(`{"seats":%d}`, 60+i)), Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i/2),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
			}
			if odd(i) {
				c.Input, c.Output = json.RawMessage(fmt.Sprintf(`{"seats":%d}`, 10+i)), "seats no llega a 60."
			}
			calls = append(calls, c)
		}
		return evidence.Mine("book", evidence.Merge(nil, calls), calls).Rules
	}
	some := mine(func(i int) bool { return i%5 < 3 })
	if !slices.ContainsFunc(some, func(r rules.Rule) bool { return r.Line == "Keep `seats` at least 60" && r.Odd == r.Calls }) {
		t.Errorf("rules %+v", some)
	}
	if rare := mine(func(i int) bool { return i%8 < 7 }); len(rare) > 0 {
		t.Errorf("a tool that answers in text has the rules %+v", rare)
	}
}

// Servers of files answer "[FILE] a.go" and "[DIR] src", and others "[12:30] started".
func TestABracketedWordIsNoAnswerOfJSON(t *testing.T) {
	t.Parallel()
	for output, is := range map[string]bool{
		"[DIR] src": false, "[12:30] started": false, "[text]": false, `[["a", 1]]`: true, "[('a', 1)]": true, `{"a":1}`: true, "[]": true,
	} {
		calls := make([]memoryd.Call, 3)
		for i := range calls {
			calls[i] = memoryd.Call{Key: memoryd.CallKey{byte(i), 3}, Output: output, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess}}
		}
		if got := evidence.UsuallyJSON(evidence.Merge(nil, calls)); got != is {
			t.Errorf("%s: %v", output, got)
		}
	}
}

func TestATextIsOddBesideTwoAnswersOfJSONThatAreAThird(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		json, text int
		usual      bool
	}{{2, 0, true}, {2, 4, true}, {2, 5, false}, {1, 0, false}, {1, 1, false}} {
		var calls []memoryd.Call
		for i := range c.json + c.text {
			output := "no room"
			if i < c.json {
				output = `{"rows":[]}`
			}
			calls = append(calls, memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "book"}, Key: memoryd.CallKey{byte(i), 2}, Seq: int64(i + 1), Input: json.RawMessage(`{}`), Output: output,
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
			})
		}
		if got := evidence.UsuallyJSON(evidence.Merge(nil, calls)); got != c.usual {
			t.Errorf("%d JSON, %d text: %v", c.json, c.text, got)
		}
	}
}

// A word that acknowledges is no message, but one of a script without blanks may be.
func TestAnAnswerOfOneWordIsNotOdd(t *testing.T) {
	t.Parallel()
	for said, odd := range map[string]bool{"OK": false, "seats no llega a 60.": true, "席数不足": true} {
		var calls []memoryd.Call
		for i := range 24 {
			c := memoryd.Call{
				ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "book"}, Key: memoryd.CallKey{byte(i), 4}, Seq: int64(i + 1),
				Input: json.RawMessage(fmt.Sprintf(`{"seats":%d,"mode":"soft"}`, 60+i)), Output: `{"rows":[1]}`,
				Metadata:   fmt.Appendf(nil, `{"trajectory_id":"r%d"}`, i),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess},
			}
			if i%3 == 0 {
				c.Input, c.Output = json.RawMessage(fmt.Sprintf(`{"seats":%d}`, 60+i)), said
			}
			calls = append(calls, c)
		}
		found := evidence.Rules("book", evidence.Merge(nil, calls))
		if is := len(found) > 0 && found[0].Odd > 0; is != odd {
			t.Errorf("%q: %v", said, found)
		}
	}
}
