package rules_test

import (
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// learn makes a profile out of n judged calls that make gives.
func learn(n int, make func(i int) memoryd.Call) *rules.Profile {
	p := &rules.Profile{}
	for i := range n {
		c := make(i)
		p.Observe(&c, rules.Doubt{})
	}
	return p
}

func judged(out string, score, seconds float64, tokens int64) memoryd.Call {
	return memoryd.Call{
		ToolRef: memoryd.ToolRef{Tool: "tool"}, Output: out, Success: true, TimeCost: seconds, TokenCost: tokens,
		Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
	}
}

func TestHistoryDecidesWhereTheOutputDoesNot(t *testing.T) {
	objects := func(n int) *rules.Profile {
		return learn(n, func(int) memoryd.Call { return judged(`{"id": 1}`, 1, 0, -1) })
	}
	silent := learn(20, func(int) memoryd.Call { return judged("", 1, 0, -1) })
	// A client that reports what it caught leaves out what the tool says.
	caught := learn(9, func(int) memoryd.Call {
		c := judged("connection lost", 0, 0, -1)
		c.Success, c.Evaluation.Rule = false, "success-flag"
		return c
	})
	tests := map[string]struct {
		out     string
		profile *rules.Profile
		score   float64
		rule    string
	}{
		"prose from a tool of objects, with a complaint": {"The flight was unknown to us", objects(20), 0, "score"},
		"a refusal without a flag beside flagged ones":   {"Error: the account could not be opened because it is closed", caught, 0, "score"},
		"too little history":                             {"Hello there", objects(5), 1, "no-trouble"},
		"an object as always":                            {`{"id": 2}`, objects(20), 1, "no-trouble"},
		"silence of a silent tool":                       {"", silent, 1, "empty-output"},
		"silence without history":                        {"", nil, 1, "empty-output"},
	}
	j := rules.New()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := judged(tc.out, 0, 0, -1)
			v := j.Judge(&c, tc.profile)
			if v.Score != tc.score || v.Rule != tc.rule {
				t.Errorf("score %v by %s, want %v by %s: %s", v.Score, v.Rule, tc.score, tc.rule, v.Evaluation.Evaluation)
			}
		})
	}
}

func TestProfileIgnoresPendingCalls(t *testing.T) {
	p := learn(30, func(int) memoryd.Call {
		c := judged(`{"a": 1}`, 1, 1, -1)
		c.Evaluation.State = memoryd.Pending
		return c
	})
	c := judged("Hello", 0, 90, -1)
	if v := rules.New().Judge(&c, p); v.Score != 1 {
		t.Errorf("score %v by %s after pending calls only", v.Score, v.Rule)
	}
}

func TestACallerThatReportsEachFailureIsBelievedOverALikelyScore(t *testing.T) {
	reportBy := func(rule, source string, told, hidden int) *rules.Profile {
		return learn(told+hidden, func(i int) memoryd.Call {
			c := judged("no such cipher", 0, 0, -1)
			c.Metadata = memoryd.WithSource(nil, source)
			c.Success, c.Evaluation.Rule = i >= told, rule
			return c
		})
	}
	report := func(source string, told, hidden int) *rules.Profile {
		return reportBy("error-text", source, told, hidden)
	}
	j := rules.New()
	judge := func(out string, p *rules.Profile) rules.Result {
		c := judged(out, 0, 0, -1)
		c.Metadata = memoryd.WithSource(nil, "ann")
		return j.Judge(&c, p)
	}
	likely := 0
	for _, out := range []string{"Value not released (see owner)", "The change was not accepted", "The key is not shown", "The key is locked"} {
		if v := judge(out, nil); v.Score != memoryd.ScoreFailure || v.Doubt.Odds > 2.5 {
			continue // the score changed its mind, or is surer than likely
		}
		likely++
		tests := map[string]struct {
			profile *rules.Profile
			score   float64
		}{
			"the caller reported failures":         {report("ann", 3, 0), memoryd.ScoreSuccess},
			"it reported too few":                  {report("ann", 2, 0), memoryd.ScoreFailure},
			"it reported some, and others not":     {report("ann", 9, 1), memoryd.ScoreFailure},
			"others only read like failures":       {reportBy("score", "ann", 3, 9), memoryd.ScoreSuccess},
			"another caller reported the failures": {report("ben", 9, 0), memoryd.ScoreFailure},
		}
		for name, tc := range tests {
			if got := judge(out, tc.profile).Score; got != tc.score {
				t.Errorf("%s: %q is scored %v, want %v", name, out, got, tc.score)
			}
		}
	}
	if likely == 0 {
		t.Fatal("no text is likely a failure to the score: choose others")
	}
	if judge("Error: the account could not be opened because it is closed", report("ann", 9, 0)).Score != memoryd.ScoreFailure {
		t.Error("what is certainly a failure is one, whatever its caller reported")
	}
}

// What the tool usually says decides how much a doubt weighs, for each source by itself.
func TestADoubtIsHeldAgainstWhatIsUsualOfTheTool(t *testing.T) {
	j := rules.New()
	usual := func(tool, source string, doubt float64) *rules.Profile {
		p := &rules.Profile{}
		for range 20 {
			c := judged("earlier", 1, 0, -1)
			c.Tool, c.Metadata = tool, []byte(`{"memoryd_source": "`+source+`"}`)
			p.Observe(&c, rules.Doubt{Odds: doubt})
		}
		return p
	}
	tests := map[string]struct {
		tool, out string
		profile   *rules.Profile
		score     float64
	}{
		"of a form that it never had":    {"ask", `{"message":"The question is not allowed","url":"http://127.0.0.1/help"}`, usual("ask", "a", -0.5), 0},
		"of a tool that nobody knows":    {"ask", "The question is too difficult", nil, 0},
		"of one that is never clear":     {"ask", "The question is too difficult", usual("ask", "a", -0.5), 1},
		"of one that another source saw": {"ask", "The question is too difficult", usual("ask", "b", -0.5), 0},
		"of one like others":             {"ask", "The question is too difficult", usual("ask", "a", -3), 0},
		"no doubt, of one never clear":   {"ask", "Error: the question is not allowed", usual("ask", "a", -0.5), 0},
		"of a shell":                     {"bash", "Cannot find it", usual("bash", "a", -0.5), 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := judged(tc.out, 0, 0, -1)
			c.Tool, c.Metadata = tc.tool, []byte(`{"memoryd_source": "a"}`)
			if v := j.Judge(&c, tc.profile); v.Score != tc.score {
				t.Errorf("score %v with doubt %.2f, want %v", v.Score, v.Doubt.Odds, tc.score)
			}
		})
	}
}
