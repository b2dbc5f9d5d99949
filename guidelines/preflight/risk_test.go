package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/store"
)

// W12: no forecast says that a call will hardly work and not why.
func TestAHighRiskNeverStandsWithoutItsReason(t *testing.T) {
	t.Parallel()
	high := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(12, seed))
		var calls []memoryd.Call
		for i := range 5 + r.IntN(40) {
			score := 0.0
			if r.Float64() < 0.1 {
				score = 1
			}
			calls = append(calls, call(i, fmt.Sprintf(`{"a":%d,"b":"%d"}`, r.IntN(9), r.IntN(3)), "kaput", score, 1))
		}
		m := preflight.Learn(evidence.Merge(nil, calls), options)
		p := preflight.Planned{Input: json.RawMessage(fmt.Sprintf(`{"a":%d,"b":"%d"}`, r.IntN(12), r.IntN(4)))}
		for range r.IntN(4) {
			p.Run = "now"
			p.RunCalls = append(p.RunCalls, store.RunCall{ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Input: json.RawMessage(`{"a":1}`), Output: "kaput", State: memoryd.Judged})
		}
		a := m.Assess(p)
		if a.Risk == nil || *a.Risk < 0.9 {
			continue
		}
		if high++; len(a.Warnings) == 0 || strings.TrimSpace(a.Warnings[0].Text) == "" {
			t.Errorf("seed %d: risk %.2f and no reason", seed, *a.Risk)
		}
	}
	if high < 5 {
		t.Errorf("only %d forecasts of a high risk", high)
	}
}

// One good call under the condition of a rule ends its warnings, also one that the model has
// not learned from; the next failure brings them back.
func TestTheNewestCallOfARulesConditionDecidesOnItsWarning(t *testing.T) {
	t.Parallel()
	o := evidence.NewObserver()
	var calls []memoryd.Call
	var obs []evidence.Observation
	add := func(mode string, score float64) {
		c := call(len(calls), fmt.Sprintf(`{"mode":%q}`, mode), map[bool]string{true: `{"rows":[1]}`, false: "E17"}[score > 0], score, 1)
		calls, obs = append(calls, c), append(obs, o.Observe(&c))
	}
	for i := range 60 {
		add([]string{"amber", "delta"}[i%2], 1)
	}
	for range 4 {
		add("opal", 0)
	}
	warned := func(since []evidence.Observation) bool {
		found, hints := evidence.RulesAndHints("t", obs[:len(obs)-len(since)])
		m := preflight.Learn(evidence.Merge(nil, calls[:len(calls)-len(since)]), preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: found, Hints: hints})
		for _, w := range m.Assess(preflight.Planned{Input: json.RawMessage(`{"mode":"opal"}`), Since: since}).Warnings {
			if w.Rule == "tested_rule" {
				return true
			}
		}
		return false
	}
	for i, score := range []float64{0, 1, 0} {
		if add("opal", score); warned(nil) != (score == 0) || warned(obs[len(obs)-1:]) != (score == 0) {
			t.Errorf("after call %d with score %v: warned %v, not learned %v", i, score, warned(nil), warned(obs[len(obs)-1:]))
		}
	}
}

// After a tool has changed, calls that heed a rule go wrong in the same way: nobody contradicts
// the rule, and all the same it changes nothing after one of them, and warns of nothing after two.
func TestARuleThatHelpsNoMoreWarnsOfNothing(t *testing.T) {
	t.Parallel()
	o := evidence.NewObserver()
	var calls []memoryd.Call
	var obs []evidence.Observation
	add := func(mode string, score float64) {
		c := call(len(calls), fmt.Sprintf(`{"mode":%q}`, mode), map[bool]string{true: `{"rows":[1]}`, false: "E17"}[score > 0], score, 1)
		calls, obs = append(calls, c), append(obs, o.Observe(&c))
	}
	for i := range 60 {
		add([]string{"amber", "delta"}[i%2], 1)
	}
	for range 4 {
		add("opal", 0)
	}
	for heeded := range 3 {
		if heeded > 0 {
			add("amber", 0)
		}
		m := preflight.Learn(evidence.Merge(nil, calls), preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: evidence.Rules("t", obs)})
		a := m.Assess(preflight.Planned{Input: json.RawMessage(`{"mode":"opal"}`)})
		warned := slices.ContainsFunc(a.Warnings, func(w preflight.Warning) bool { return w.Rule == "tested_rule" })
		if warned != (heeded < 2) || (a.Suggestion != nil) != (heeded == 0) {
			t.Errorf("after %d calls that heeded it: warned %v, suggested %s", heeded, warned, a.Suggestion)
		}
	}
}
