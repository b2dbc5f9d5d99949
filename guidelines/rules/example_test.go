package rules

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// example is a form of the usage example of the documentation: good searches, some in a
// language that the tool does not know and with too high an amount, and some that time out,
// with an amount between.
type example struct {
	query, amount, language string // names of parameters
	usual, more, much       int    // amounts: of good calls, of those that time out, of the others
	odd                     string // the language that is unknown
	late, partly            string // messages
	good, partial, timeouts int
	calls                   []Call
}

// timedOut are messages with a number that lies between the amounts and has a unit of its
// own, or is a part of something else.
var timedOut = []string{
	"Error: request timed out after %d s", "timed out after %ds", "Timeout: %d seconds", "Deadline of %d seconds exceeded while waiting", "%d.0 s passed without an answer",
	"Zeit abgelaufen nach %d s.", "Zeitüberschreitung: %d Sekunden ohne Antwort", "Se agotó el tiempo (%d s)", "%d秒でタイムアウトしました", "请求超时（%d秒）",
	"only %d%% of the shards answered", "E-%d upstream timeout", "%dms budget used up", "gave up at 10:%d", "504 after %d s", "job 2027-%d expired",
}

// partly are messages of calls in an unknown language.
var partly = []string{
	"Warning: language '%s' not supported. Query too generic, limited results.", "%s is nothing that we know; here is what there is",
	"Sprache %s unbekannt, Treffer unvollständig", "言語%sには対応していません", "partial answer, code 17%.0s",
}

func newExample(r *rand.Rand) *example {
	one := func(words string) string { w := strings.Fields(words); return w[r.IntN(len(w))] }
	x := &example{query: one("query q text a_query"), amount: one("max_results limit count top"), language: one("lang language locale tongue"), odd: one("unknown xx tlh none")}
	x.usual = 5 + r.IntN(20)
	x.more = x.usual + 20 + r.IntN(60)
	x.much = x.more + 10 + r.IntN(100)
	x.late = fmt.Sprintf(timedOut[r.IntN(len(timedOut))], x.usual+1+r.IntN(x.more-x.usual-1))
	x.partly = fmt.Sprintf(partly[r.IntN(len(partly))], x.odd)
	x.good, x.partial, x.timeouts = 14+r.IntN(8), 6+r.IntN(4), 4+r.IntN(4)
	alike, named, varied := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	for i, k := range r.Perm(x.good + x.partial + x.timeouts) {
		in := map[string]any{x.amount: x.usual, x.language: "en", x.query: fmt.Sprintf("Python asyncio tutorial %d", i)}
		if alike {
			in[x.query] = "Python asyncio tutorial"
		}
		if varied {
			in[x.amount] = 1 + r.IntN(x.usual)
		}
		c := Call{Run: uint64(i/2 + 1), Named: named} //nolint:gosec // small
		switch {
		case k < x.partial:
			in[x.amount], in[x.language], in[x.query] = x.much+r.IntN(9), x.odd, fmt.Sprintf("test %d", i)
			c.Bad, c.Message = true, x.partly
		case k < x.partial+x.timeouts:
			in[x.amount] = x.more
			c.Bad, c.Failed, c.Message = true, true, x.late
		}
		c.Input, _ = json.Marshal(in) //nolint:errchkjson // texts and numbers
		x.calls = append(x.calls, c)
	}
	return x
}

// Both causes of the example are told with all calls behind them, in whatever words the tool
// answers: a number with a unit is no bound, each kind of failure has the rule that explains
// it alone, and a parameter of few values is to blame before the form of a text.
func TestEachKindOfFailureOfTheExampleHasItsOwnRule(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 33))
	for range 300 {
		x := newExample(r)
		text := ""
		for _, rule := range Find("search", x.calls) {
			text += rule.Line + ": " + rule.Found() + "\n"
		}
		language := fmt.Sprintf("Do not give `%s` as %q; \"en\" worked: otherwise %d of %[3]d only half succeeded", x.language, x.odd, x.partial)
		amount := fmt.Sprintf("%d and more failed): otherwise %d of %[2]d went wrong", x.more, x.timeouts)
		if !strings.Contains(text, language) || !strings.Contains(text, "Keep `"+x.amount+"` at most ") || !strings.Contains(text, amount) {
			t.Errorf("%q, %q: got\n%s, want %q and %q", x.late, x.partly, text, language, amount)
		}
	}
}

// A number that the message says of the parameter narrows its bound, in whatever words.
func TestANumberThatAMessageSaysOfAParameterIsItsBound(t *testing.T) {
	for _, said := range []string{
		"max_results: more than 40", "max_results=%d is over 40", "%d is beyond what we take: 40 of max_results.", "at most 40 results", "Maximum of 40 results exceeded by max_results.",
		"max_results darf höchstens 40 sein", "max_results不得超过40。", "max_results是40以下", "limit 40", "%d > 40", "max_results (40) exceeded",
	} {
		var calls []Call
		for i := range 40 {
			c := call(i, fmt.Sprintf(`{"max_results":%d}`, 5+i%30), "")
			if n := 50 + i; i%4 == 0 {
				c = call(i, fmt.Sprintf(`{"max_results":%d}`, n), strings.ReplaceAll(said, "%d", fmt.Sprint(n)))
			}
			calls = append(calls, c)
		}
		if got := lines(Find("own", calls)); !strings.Contains(got, "Keep `max_results` at most 40\n") {
			t.Errorf("%q: got %q", said, got)
		}
	}
}

// Two kinds of failure under one condition are told as one rule with the calls of both.
func TestTwoKindsOfFailureUnderOneConditionAreOneRule(t *testing.T) {
	var calls []Call
	for i := range 40 {
		switch i % 4 {
		case 0:
			calls = append(calls, call(i, `{"q":"a"}`, []string{"x1", "y2"}[i/4%2]))
		default:
			calls = append(calls, call(i, `{"q":"a","customer":"c"}`, ""))
		}
	}
	got := Find("own", calls)
	if len(got) != 1 || got[0].Calls != 10 || len(got[0].Behind) != 10 {
		t.Errorf("got %d rules: %q, %+v", len(got), lines(got), got)
	}
}

// A number that all good calls have in common is no step.
func TestOneNumberIsNoStep(t *testing.T) {
	var calls []Call
	for i := range 40 {
		input, message := `{"n":20,"mode":"on"}`, ""
		switch i % 8 {
		case 0:
			input, message = `{"n":71,"mode":"on"}`, "x1"
		case 4:
			input, message = `{"n":80,"mode":"off"}`, "y2"
		}
		calls = append(calls, call(i, input, message))
	}
	if got := lines(Find("own", calls)); !strings.Contains(got, "Keep `n` at most 20") || strings.Contains(got, "in steps of") {
		t.Errorf("got %q", got)
	}
}
