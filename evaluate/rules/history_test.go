package rules_test

import (
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// learn makes a profile out of n judged calls that make gives.
func learn(n int, make func(i int) memoryd.Call) *rules.Profile {
	p := &rules.Profile{}
	for i := range n {
		c := make(i)
		p.Observe(&c)
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
	prose := learn(20, func(int) memoryd.Call { return judged("A sentence.", 1, 0, -1) })
	tests := map[string]struct {
		out     string
		profile *rules.Profile
		score   float64
		rule    string
	}{
		"prose from a tool of objects, with a complaint": {"The flight was unknown to us", objects(20), 0, "score"},
		"prose from a tool of objects":                   {"Hello there", objects(20), 0.5, "unlike-successes"},
		"too little history":                             {"Hello there", objects(5), 1, "no-trouble"},
		"an object as always":                            {`{"id": 2}`, objects(20), 1, "no-trouble"},
		"doubtful sentence from a tool of objects":       {"Payment amount must be 5", objects(20), 0.5, "unlike-successes"},
		"silence of a silent tool":                       {"", silent, 1, "empty-output"},
		"silence of a tool of objects":                   {"", objects(20), 0.5, "empty-output"},
		"silence of a tool of prose":                     {" \n", prose, 0.5, "empty-output"},
		"silence without history":                        {"", nil, 1, "empty-output"},
		"a complaint from a tool of prose":               {"The door was not open", prose, 1, "no-trouble"},
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

func TestCostOutliers(t *testing.T) {
	steady := learn(30, func(i int) memoryd.Call { return judged("ok", 1, 2+float64(i%5)*0.1, 100+int64(i%7)) })
	tests := map[string]struct {
		seconds float64
		tokens  int64
		profile *rules.Profile
		score   float64
	}{
		"usual":                   {2.3, 104, steady, 1},
		"slow":                    {60, 104, steady, 0.5},
		"twice as slow":           {4.5, 104, steady, 1},
		"a long prompt (J2)":      {2.3, 5000, steady, 1},
		"unknown costs":           {0, -1, steady, 1},
		"too little history":      {60, 104, learn(5, func(int) memoryd.Call { return judged("ok", 1, 2, 100) }), 1},
		"no history":              {60, 104, nil, 1},
		"jitter of a fast tool":   {0.4, 100, learn(30, func(int) memoryd.Call { return judged("ok", 1, 0.01, 100) }), 1},
		"failures teach no costs": {60, 104, learn(30, func(int) memoryd.Call { return judged("Error: x", 0, 2, 100) }), 1},
	}
	j := rules.New()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := judged("Found 3 relevant results", 0, tc.seconds, tc.tokens)
			v := j.Judge(&c, tc.profile)
			if v.Score != tc.score || (tc.score == 0.5) != (v.Rule == "cost-outlier") {
				t.Errorf("score %v by %s, want %v: %s", v.Score, v.Rule, tc.score, v.Evaluation.Evaluation)
			}
			if tc.score == 0.5 && !strings.Contains(v.Evaluation.Evaluation, "median") {
				t.Errorf("no figures in %q", v.Evaluation.Evaluation)
			}
		})
	}
}

func TestProfileFollowsAToolThatBecameSlower(t *testing.T) {
	p := learn(30, func(int) memoryd.Call { return judged("ok", 1, 1, -1) })
	j := rules.New()
	for i := range 200 {
		c := judged("ok", 0, 20, -1)
		v := j.Judge(&c, p)
		c.Evaluation = v.Evaluation
		p.Observe(&c)
		if i > 100 && v.Score != 1 {
			t.Fatalf("call %d of the new normal still scores %v", i, v.Score)
		}
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
