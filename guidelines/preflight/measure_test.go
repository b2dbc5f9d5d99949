package preflight_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/guidelines/preflight"
	"memoryd/internal/recordtest"
	"memoryd/internal/stats"
)

// recordedTool is the calls of one recorded tool that have a label.
type recordedTool struct {
	name  string
	calls []memoryd.Call
	bad   []bool // by the label
}

// recordedTools reads all tools. The calls carry the verdicts of the rules, as
// they do in the product; the labels are for measuring only.
func recordedTools(t *testing.T) []recordedTool {
	t.Helper()
	judge := rules.New(rules.DefaultConfig())
	var tools []recordedTool
	for _, file := range recordtest.Files(t) {
		at := map[string]int{}
		for _, c := range recordtest.Read(t, file) {
			if c.Gold == "" {
				continue
			}
			c.Evaluation = judge.Judge(&c.Call, nil).Evaluation
			if _, known := at[c.Tool]; !known {
				at[c.Tool] = len(tools)
				tools = append(tools, recordedTool{name: strings.TrimSuffix(filepath.Base(file), ".jsonl.gz") + " " + c.Tool})
			}
			r := &tools[at[c.Tool]]
			r.calls, r.bad = append(r.calls, c.Call), append(r.bad, c.Gold == "error")
		}
	}
	return slices.DeleteFunc(tools, func(r recordedTool) bool {
		return len(r.calls) < 40 || !bothOutcomes(r.bad)
	})
}

// figures compare predictions with what happened.
type figures struct {
	auc, brier, base float64
	calls            int
}

// measure learns from learn and predicts the others. The AUC is 0.5 where only one
// outcome happened.
func measure(learn, test []memoryd.Call, bad []bool) figures {
	m := preflight.Learn(learn, nil)
	f := figures{calls: len(test)}
	risks := make([]float64, len(test))
	for i := range test {
		a := m.Assess(test[i].Input)
		risks[i] = *a.Risk
		f.brier += square(risks[i]-outcome(bad[i])) / float64(len(test))
		f.base += square(a.BaseRate-outcome(bad[i])) / float64(len(test))
	}
	f.auc = auc(risks, bad)
	return f
}

func outcome(bad bool) float64 {
	if bad {
		return 1
	}
	return 0
}

func square(x float64) float64 { return x * x }

// auc is the probability that a bad call got a higher risk than a good one.
func auc(risks []float64, bad []bool) float64 {
	ranks := stats.RanksOf(risks).Rank
	var sum, n float64
	for i, b := range bad {
		if b {
			sum += ranks[i]
			n++
		}
	}
	if n == 0 || n == float64(len(bad)) {
		return 0.5
	}
	return (sum - n*(n+1)/2) / (n * (float64(len(bad)) - n))
}

// TestMeasureFirstHalfAgainstSecond learns from the first half of each recorded
// tool and predicts the labels of the second: once from the verdicts of the
// rules, which miss failures that leave no trace in the output, and once from
// verdicts that agree with the labels, as those of a better judge would.
func TestMeasureFirstHalfAgainstSecond(t *testing.T) {
	const least = 0.75
	for _, judge := range []string{"rules", "labels"} {
		var weighted, back, calls float64
		for _, r := range recordedTools(t) {
			if judge == "labels" {
				r = judgedByLabel(r)
			}
			h := len(r.calls) / 2
			f := measure(r.calls[:h], r.calls[h:], r.bad[h:])
			b := measure(r.calls[h:], r.calls[:h], r.bad[:h])
			t.Logf("%-6s %-47s %4d calls  AUC %.3f  Brier %.4f  base rate %.4f | backwards: AUC %.3f  Brier %.4f  base rate %.4f",
				judge, r.name, f.calls, f.auc, f.brier, f.base, b.auc, b.brier, b.base)
			if f.brier > f.base+1e-9 {
				t.Errorf("%s: the base rate predicts better", r.name)
			}
			if !bothOutcomes(r.bad[:h]) || !bothOutcomes(r.bad[h:]) {
				t.Logf("%s counts for no AUC: a half of it has one outcome only", r.name)
				continue
			}
			weighted += f.auc * float64(f.calls)
			back += b.auc * float64(b.calls)
			calls += float64(f.calls)
		}
		t.Logf("%s: weighted AUC %.3f (backwards %.3f)", judge, weighted/calls, back/calls)
		if weighted/calls < least {
			t.Errorf("AUC %.3f, wanted %.2f", weighted/calls, least)
		}
	}
}

func bothOutcomes(bad []bool) bool { return slices.Contains(bad, true) && slices.Contains(bad, false) }

// judgedByLabel gives calls the scores that their labels say.
func judgedByLabel(r recordedTool) recordedTool {
	r.calls = slices.Clone(r.calls)
	for i := range r.calls {
		r.calls[i].Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: memoryd.ScoreSuccess}
		if r.bad[i] {
			r.calls[i].Evaluation.Score = memoryd.ScoreFailure
		}
	}
	return r
}

// TestMeasureShuffled deals the outcomes to other calls: nothing can be learned.
func TestMeasureShuffled(t *testing.T) {
	var weighted, calls, brier, base float64
	for _, r := range recordedTools(t) {
		for seed := range uint64(4) {
			shuffled, bad := slices.Clone(r.calls), slices.Clone(r.bad)
			rand.New(rand.NewPCG(seed, 11)).Shuffle(len(bad), func(i, j int) {
				bad[i], bad[j] = bad[j], bad[i]
				a, b := &shuffled[i], &shuffled[j]
				a.Evaluation, b.Evaluation = b.Evaluation, a.Evaluation
				a.Output, b.Output = b.Output, a.Output
				a.Success, b.Success = b.Success, a.Success
			})
			h := len(bad) / 2
			f := measure(shuffled[:h], shuffled[h:], bad[h:])
			weighted += f.auc * float64(f.calls)
			calls += float64(f.calls)
			brier += f.brier * float64(f.calls)
			base += f.base * float64(f.calls)
		}
	}
	t.Logf("on shuffled outcomes: weighted AUC %.3f, Brier %.4f, base rate %.4f", weighted/calls, brier/calls, base/calls)
	if brier > 1.01*base {
		t.Errorf("Brier %.4f against %.4f", brier/calls, base/calls)
	}
	if weighted/calls < 0.45 || weighted/calls > 0.55 {
		t.Errorf("AUC %.3f on shuffled outcomes", weighted/calls)
	}
}
