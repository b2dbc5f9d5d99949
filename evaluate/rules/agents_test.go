package rules_test

import (
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// What the tool usually answers says nothing about an error heading.
func TestAnErrorHeadingDecidesWhateverTheHistorySays(t *testing.T) {
	j := rules.New()
	for name, history := range map[string]*rules.Profile{
		"texts":      learn(40, func(int) memoryd.Call { return judged("Done. Three files were written.", 1, 1, 1) }),
		"structures": learn(40, func(int) memoryd.Call { return judged(`{"a": 1}`, 1, 1, 1) }),
		"silence":    learn(40, func(int) memoryd.Call { return judged("", 1, 1, 1) }),
	} {
		for _, out := range []string{
			"ERROR: the file is locked", "Checking the input\nERROR: the file is locked", "Error: Ref e14 not found", "error: pathspec 'x' did not match",
			"### Result\nError: the page did not load", "Failed to write: disk full",
		} {
			c := (&example{tool: "save_document", input: map[string]any{"id": "7"}, out: out}).call(t)
			if v := j.Judge(c, history); v.Score != memoryd.ScoreFailure {
				t.Errorf("%s, %q: score %v by %s", name, out, v.Score, v.Rule)
			}
		}
		for _, c := range readOutputs(t, "first.txt") {
			alone, known := j.Judge(&c.Call, nil), j.Judge(&c.Call, history)
			if name == "texts" && alone.Score == 0 && known.Score != 0 && c.label == "error" {
				t.Errorf("%s: %s %q: %v by %s without history, %v by %s with it", name, c.Tool, c.Output, alone.Score, alone.Rule, known.Score, known.Rule)
			}
		}
	}
}

// The tokens that a host reports are those of its growing prompt.
func TestTokensAreNoCostOfTheTool(t *testing.T) {
	history := learn(40, func(i int) memoryd.Call { return judged("ok", 1, 1, int64(1000+i)) })
	c := judged("ok", 1, 1, 900_000)
	c.Evaluation = memoryd.Evaluation{}
	if v := rules.New().Judge(&c, history); v.Score != 1 {
		t.Errorf("score %v by %s", v.Score, v.Rule)
	}
}

// A message that states a failure gets the same evaluation, whatever stands behind it.
func TestTheTextBehindAMessageDoesNotChangeTheVerdict(t *testing.T) {
	j := rules.New()
	for _, c := range []example{
		{tool: "save", input: map[string]any{"id": 1}, out: "Error: the file is locked"},
		{tool: "deploy", input: map[string]any{"id": 1}, out: "Failed to start: port in use"},
		{tool: "bash", input: sh("make"), out: "make: *** [Makefile:6: main.o] Error 1"},
	} {
		want := j.Judge(c.call(t), nil).Score
		for _, lines := range []int{1, 5, 30, 200, 2000} {
			long := c
			long.out += "\n" + strings.Repeat("User-agent: *\n", lines)
			if v := j.Judge(long.call(t), nil); want != memoryd.ScoreFailure || v.Score != want {
				t.Errorf("%s: score %v alone, %v by %s with %d lines behind it", c.out, want, v.Score, v.Rule, lines)
			}
		}
	}
}

// What says nothing, or praises itself, is no success.
func TestNothingSaidIsNoSuccess(t *testing.T) {
	j := rules.New()
	for _, out := range []string{
		":", "...", "%%%%", "———",
	} {
		c := (&example{tool: "summarize_text", input: map[string]any{"text": "a report of last week"}, out: out}).call(t)
		if v := j.Judge(c, nil); v.Score == memoryd.ScoreSuccess {
			t.Errorf("%q: score %v by %s", out, v.Score, v.Rule)
		}
	}
	for _, out := range []string{"42", "ok", "The score was 3:1.", "Credit score: 720", "✓", "{}"} {
		c := (&example{tool: "get_value", input: map[string]any{"of": "a match of last week"}, out: out}).call(t)
		if v := j.Judge(c, nil); out != "✓" && out != "{}" && v.Score != memoryd.ScoreSuccess {
			t.Errorf("%q: score %v by %s", out, v.Score, v.Rule)
		}
	}
}
