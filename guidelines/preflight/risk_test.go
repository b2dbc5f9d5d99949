package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"memoryd"
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
		m := preflight.Learn(calls, options)
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
