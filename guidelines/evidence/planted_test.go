package evidence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"memoryd/guidelines/evidence"
	"memoryd/guidelines/rules"
)

// The pitfalls of made-up tools become rules, and nothing else does: not in their calls,
// and not where outcomes are dealt to other calls.
func TestPlantedPitfallsBecomeRulesAndChanceDoesNot(t *testing.T) {
	found, planted, false1, shuffled := 0, 0, 0, 0
	for _, p := range plantedTools() {
		for seed := range uint64(8) {
			calls := generate(t, p, seed, 160)
			e := evidence.Mine(calls[0].Tool, evidence.Merge(nil, calls), calls)
			planted += len(p.pitfalls)
			for _, want := range p.pitfalls {
				if slices.ContainsFunc(e.Rules, func(r rules.Rule) bool { return r.Parameter == want }) {
					found++
				}
			}
			for i := range e.Rules {
				if !slices.Contains(p.pitfalls, e.Rules[i].Parameter) {
					t.Logf("%s: %s", p.name, e.Rules[i].Line)
					false1++
				}
			}
			r := rand.New(rand.NewPCG(seed, 5))
			r.Shuffle(len(calls), func(i, j int) {
				a, b := &calls[i], &calls[j]
				a.Output, b.Output = b.Output, a.Output
				a.Evaluation, b.Evaluation = b.Evaluation, a.Evaluation
				a.TimeCost, b.TimeCost = b.TimeCost, a.TimeCost
				a.TokenCost, b.TokenCost = b.TokenCost, a.TokenCost
			})
			for _, rule := range evidence.Mine(calls[0].Tool, evidence.Merge(nil, calls), calls).Rules {
				if rule.Heard() { // it says what was answered, whatever was sent
					continue
				}
				t.Logf("%s, shuffled: %s: %s", p.name, rule.Line, rule.Found())
				shuffled++
			}
		}
	}
	t.Logf("%d of %d pitfalls found, %d others; %d rules of shuffled histories", found, planted, false1, shuffled)
	if found < planted || false1 > 1 || shuffled > 1 {
		t.Error("a pitfall is missed, or chance makes rules")
	}
}
