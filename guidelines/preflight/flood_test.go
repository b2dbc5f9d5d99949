package preflight_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
)

// A key that records failure upon failure of what others plan raises its own risk, but not
// that of others above the bar of a warning, in whatever form: of the same input, of inputs
// that have a value in common, of the tool at large. Controls: the key itself is warned, and
// so are others once a second source has failed like it.
func TestNoKeyRaisesTheRiskOfAnotherAboveTheBar(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(33, 2))
	attacks := map[string]func(i int) string{
		"the same input": func(int) string { return `{"lang":"xx","note":"aim"}` },
		"a value":        func(i int) string { return fmt.Sprintf(`{"lang":"xx","note":"m%d"}`, i%7) },
		"what works":     func(i int) string { return fmt.Sprintf(`{"lang":"en","note":"aim%d"}`, i) },
		"the tool":       func(i int) string { return fmt.Sprintf(`{"lang":"l%d","note":"aim"}`, i%9) },
	}
	for name, attack := range attacks {
		for range 10 {
			o := evidence.NewObserver()
			var calls []memoryd.Call
			var obs []evidence.Observation
			add := func(source, input string, score float64) {
				n := len(calls)
				c := memoryd.Call{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{byte(n), byte(n >> 8), 7}, Seq: int64(n), Input: json.RawMessage(input), Output: `{"rows":[1]}`, Success: score > 0,
					Metadata: fmt.Appendf(nil, `{"trajectory_id":"r%d","memoryd_source":%q}`, n, source), Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
				}
				if score == 0 {
					c.Output = "E17"
				}
				calls, obs = append(calls, c), append(obs, o.Observe(&c))
			}
			for i := range 40 + r.IntN(30) {
				add([]string{"ann", "bob"}[i%2], fmt.Sprintf(`{"lang":%q,"note":"n%d"}`, []string{"en", "de"}[r.IntN(2)], i), 1)
			}
			add("bob", `{"lang":"en","note":"once"}`, 0) // others fail now and then
			for i := range 30 + r.IntN(60) {
				add("mallory", attack(i), 0)
			}
			assess := func(source string) preflight.Assessment {
				found, hints := evidence.RulesAndHints("t", obs)
				m := preflight.Learn(shared(obs), preflight.Options{Tool: "t", FalseAlarms: 0.05, Tested: found, Hints: hints})
				return m.Assess(preflight.Planned{Input: json.RawMessage(attack(0)), Source: evidence.SourceOf(source)})
			}
			if a := assess("ann"); *a.Risk >= 0.5 || len(a.Warnings) > 0 {
				t.Errorf("%s: %d calls raise another's risk to %.2f: %+v", name, len(calls), *a.Risk, a.Warnings)
			}
			if name == "what works" {
				continue
			}
			if a := assess("mallory"); *a.Risk < 0.5 {
				t.Errorf("%s: its own risk is %.2f", name, *a.Risk)
			}
			for range 3 {
				add("bob", attack(0), 0)
			}
			if a := assess("ann"); *a.Risk < 0.5 || len(a.Warnings) == 0 {
				t.Errorf("%s: two sources failed, and the risk is %.2f: %+v", name, *a.Risk, a.Warnings)
			}
		}
	}
}

// shared are observations as those of a workspace with several sources.
func shared(obs []evidence.Observation) []evidence.Observation {
	for i := range obs {
		obs[i].Shared = true
	}
	return obs
}
