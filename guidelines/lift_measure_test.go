package guidelines_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
	"memoryd/internal/recordtest"
)

// claim is a published statement that an input alone can break.
type claim struct {
	text   string
	breaks func(constraints.Input) bool
}

// claimsOf are the checkable statements of a guideline.
func claimsOf(d *guidelines.Document, e *evidence.Evidence) []claim {
	var claims []claim
	for _, it := range d.Items {
		for i := range e.Causes {
			c := &e.Causes[i]
			if it.Section != "Best Practices" || !slices.Contains(it.Evidence, c.ID) {
				continue
			}
			switch {
			case c.Checkable() && strings.Contains(it.Text, "`"+c.Parameter+"`"):
				claims = append(claims, claim{it.Text, func(in constraints.Input) bool { return constraints.Broken(c.Constraint, in) }})
			case strings.HasPrefix(it.Text, "Never pass"):
				claims = append(claims, claim{it.Text, func(in constraints.Input) bool {
					values, _ := in.At(c.Parameter)
					return slices.ContainsFunc(values, func(v any) bool { s, ok := v.(string); return ok && strings.HasPrefix(s, c.Prefix) })
				}})
			}
		}
		if strings.HasPrefix(it.Text, "Use single quotes") {
			claims = append(claims, claim{it.Text, func(in constraints.Input) bool {
				values, _ := in.At(e.Echoes.Path)
				return slices.ContainsFunc(values, func(v any) bool { s, ok := v.(string); return ok && strings.Contains(s, `"`) })
			}})
		}
	}
	return claims
}

// TestMeasureThatAdviceKeepsItsSign holds each checkable statement of the first half
// against the second: calls that break it fail more often, and a rule that forbids is
// hardly broken by good calls.
func TestMeasureThatAdviceKeepsItsSign(t *testing.T) {
	kept, published, good, contradicted := 0, 0, 0, 0
	for _, file := range recordtest.Files(t) {
		byTool := map[string][]memoryd.Call{}
		for _, c := range recorded(t, filepath.Base(file), "") {
			byTool[c.Tool] = append(byTool[c.Tool], c)
		}
		for tool, calls := range byTool {
			if len(calls) < 20 {
				continue
			}
			half := len(calls) / 2
			d, err := guidelines.NewRules(configtest.Section[guidelines.Config]("guidelines")).Compose(t.Context(), memoryd.Tool{ToolRef: calls[0].ToolRef}, calls[:half], 20, nil)
			if err != nil {
				t.Fatal(err)
			}
			e := evidence.Mine(calls[:half])
			for _, c := range claimsOf(d, &e) {
				var broke, brokeBad, kept1, keptBad int
				for i := half; i < len(calls); i++ {
					bad := calls[i].Evaluation.Score == memoryd.ScoreFailure
					if c.breaks(constraints.InputOf(calls[i].Input)) {
						broke++
						if bad {
							brokeBad++
						}
					} else {
						kept1++
						if bad {
							keptBad++
						}
					}
				}
				if broke == 0 || kept1 == 0 {
					continue
				}
				published++
				if brokeBad*kept1 >= keptBad*broke {
					kept++
				}
				if !strings.HasPrefix(c.text, "Use single quotes") { // a tendency with its two rates, not a ban
					good += kept1 - keptBad + broke - brokeBad
					contradicted += broke - brokeBad
				}
				t.Logf("%s: %d of %d that broke it failed, %d of %d that kept it: %s", tool, brokeBad, broke, keptBad, kept1, c.text)
			}
		}
	}
	t.Logf("%d of %d checkable statements keep their sign; %d of %d later good calls break a rule", kept, published, contradicted, good)
	if kept < published || 50*contradicted > good {
		t.Error("a statement turned, or too many good calls break one")
	}
}

// TestMeasureShuffledOutcomesPublishNoRuleOnInputs deals outcomes and messages to
// other calls: what is said of inputs is false then.
func TestMeasureShuffledOutcomesPublishNoRuleOnInputs(t *testing.T) {
	rounds, published := 0, 0
	for _, file := range recordtest.Files(t) {
		byTool := map[string][]memoryd.Call{}
		for _, c := range recorded(t, filepath.Base(file), "") {
			byTool[c.Tool] = append(byTool[c.Tool], c)
		}
		for _, calls := range byTool {
			if len(calls) < 20 || !slices.ContainsFunc(calls, func(c memoryd.Call) bool { return c.Evaluation.Score < 1 }) {
				continue
			}
			calls = calls[max(0, len(calls)-500):]
			for seed := range uint64(5) {
				r := rand.New(rand.NewPCG(seed, 9))
				r.Shuffle(len(calls), func(i, j int) {
					a, b := &calls[i], &calls[j]
					a.Output, b.Output, a.Evaluation, b.Evaluation, a.Success, b.Success = b.Output, a.Output, b.Evaluation, a.Evaluation, b.Success, a.Success
				})
				d, err := guidelines.NewRules(configtest.Section[guidelines.Config]("guidelines")).Compose(t.Context(), memoryd.Tool{ToolRef: calls[0].ToolRef}, calls, 20, nil)
				if err != nil {
					t.Fatal(err)
				}
				rounds++
				text := d.Render()
				for _, sign := range []string{"otherwise", "then worked", "Never pass", "Copy `", "the tool drops"} {
					if strings.Contains(text, sign) {
						published++
						t.Logf("%s: %s", calls[0].Tool, sign)
						break
					}
				}
			}
		}
	}
	t.Logf("%d of %d shuffled histories publish a statement on inputs", published, rounds)
	if 20*published > rounds {
		t.Errorf("more than 5 %%")
	}
}
