package preflight_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/guidelines/evidence"
	"memoryd/guidelines/preflight"
	"memoryd/internal/recordtest"
	"memoryd/store"
)

// recordedTool is the calls of one recorded tool. They carry the verdicts of the
// rules, as they do in the product; the labels are for measuring only.
type recordedTool struct {
	file, name string
	calls      []recordtest.Call
	before     map[memoryd.CallKey][]store.RunCall // what the run of a call did before it, the newest first
}

func (r recordedTool) String() string {
	return strings.TrimSuffix(filepath.Base(r.file), ".jsonl.gz") + " " + r.name
}

// recordedTools reads all tools; labelled leaves calls without a label out.
func recordedTools(t *testing.T, labelled bool) []recordedTool {
	t.Helper()
	judge := rules.New()
	var tools []recordedTool
	for _, file := range recordtest.Files(t) {
		at := map[string]int{}
		before, run := map[memoryd.CallKey][]store.RunCall{}, map[string][]store.RunCall{}
		for _, c := range recordtest.Read(t, file) {
			c.Evaluation = judge.Judge(&c.Call, nil).Evaluation
			c.Evaluation.State = memoryd.Judged
			before[c.Key] = run[c.Run()]
			run[c.Run()] = append([]store.RunCall{runCall(&c)}, run[c.Run()]...)
			if labelled && c.Gold != "ok" && c.Gold != "error" {
				continue
			}
			if _, known := at[c.Tool]; !known {
				at[c.Tool] = len(tools)
				tools = append(tools, recordedTool{file: file, name: c.Tool, before: before})
			}
			tools[at[c.Tool]].calls = append(tools[at[c.Tool]].calls, c)
		}
	}
	return tools
}

func bad(c *recordtest.Call) bool { return c.Gold == "error" }

func plain(calls []recordtest.Call) []memoryd.Call {
	out := make([]memoryd.Call, len(calls))
	for i := range calls {
		out[i] = calls[i].Call
	}
	return out
}

// auc is the probability that a bad call got a higher risk than a good one.
func auc(risks []float64, bad []bool) float64 {
	above, pairs := 0.0, 0.0
	for i := range risks {
		for k := range risks {
			if !bad[i] || bad[k] {
				continue
			}
			pairs++
			switch {
			case risks[i] > risks[k]:
				above++
			case risks[i] == risks[k]:
				above += 0.5
			}
		}
	}
	if pairs == 0 {
		return 0.5
	}
	return above / pairs
}

// halves are the tools with 40 labelled calls and both outcomes in both halves.
func halves(t *testing.T) []recordedTool {
	return slices.DeleteFunc(recordedTools(t, true), func(r recordedTool) bool {
		h := len(r.calls) / 2
		one := func(calls []recordtest.Call) bool {
			return !slices.ContainsFunc(calls, func(c recordtest.Call) bool { return bad(&c) }) || !slices.ContainsFunc(calls, func(c recordtest.Call) bool { return !bad(&c) })
		}
		return len(r.calls) < 40 || one(r.calls[:h]) || one(r.calls[h:])
	})
}

// forecasts learns from some calls and forecasts others, not knowing their runs.
func forecasts(learn []memoryd.Call, test []recordtest.Call) (risks []float64, isBad []bool, warned []bool) {
	m := preflight.Learn(evidence.Merge(nil, learn), preflight.Options{Tool: test[0].Tool, FalseAlarms: 0.05})
	for i := range test {
		a := m.Assess(preflight.Planned{Input: test[i].Input})
		risks, isBad, warned = append(risks, *a.Risk), append(isBad, bad(&test[i])), append(warned, len(a.Warnings) > 0)
	}
	return risks, isBad, warned
}

// calibrationError is the expected one over ten bins.
func calibrationError(risks []float64, bad []bool) float64 {
	var n, sum, failed [10]float64
	for i, r := range risks {
		b := min(9, int(r*10))
		n[b]++
		sum[b] += r
		if bad[i] {
			failed[b]++
		}
	}
	var e float64
	for b := range n {
		e += math.Abs(sum[b]-failed[b]) / float64(len(risks))
	}
	return e
}

// TestMeasureFirstHalfAgainstSecond learns from the first half of each recorded
// tool and forecasts the second.
func TestMeasureFirstHalfAgainstSecond(t *testing.T) {
	var weighted, calls float64
	var all []float64
	var allBad []bool
	for _, r := range halves(t) {
		h := len(r.calls) / 2
		risks, isBad, warned := forecasts(plain(r.calls[:h]), r.calls[h:])
		a := auc(risks, isBad)
		alarms := [2]int{}
		for i, w := range warned {
			if w && isBad[i] {
				alarms[1]++
			} else if w {
				alarms[0]++
			}
		}
		t.Logf("%-47s %4d calls  AUC %.3f  calibration error %.3f warned of %d bad, %d good", r, len(risks), a, calibrationError(risks, isBad), alarms[1], alarms[0])
		weighted += a * float64(len(risks))
		calls += float64(len(risks))
		all, allBad = append(all, risks...), append(allBad, isBad...)
	}
	e := calibrationError(all, allBad)
	t.Logf("weighted AUC %.3f, calibration error %.3f", weighted/calls, e)
	if weighted/calls < 0.78 {
		t.Errorf("AUC %.3f", weighted/calls)
	}
	if e > 0.10 {
		t.Errorf("calibration error %.3f", e)
	}
}

// TestMeasureShuffledLearningHalf deals the outcomes of the learning half to other
// calls: nothing can be learned, and nothing may be known.
func TestMeasureShuffledLearningHalf(t *testing.T) {
	var mean float64
	const seeds = 10
	for seed := range uint64(seeds) {
		var weighted, calls float64
		for _, r := range halves(t) {
			h := len(r.calls) / 2
			learn := plain(r.calls[:h])
			rand.New(rand.NewPCG(seed, 11)).Shuffle(len(learn), func(i, j int) {
				a, b := &learn[i], &learn[j]
				a.Evaluation, b.Evaluation = b.Evaluation, a.Evaluation
				a.Output, b.Output = b.Output, a.Output
				a.Success, b.Success = b.Success, a.Success
			})
			risks, isBad, _ := forecasts(learn, r.calls[h:])
			weighted += auc(risks, isBad) * float64(len(risks))
			calls += float64(len(risks))
		}
		t.Logf("seed %d: weighted AUC %.3f", seed, weighted/calls)
		mean += weighted / calls / seeds
	}
	if mean < 0.44 || mean > 0.56 {
		t.Errorf("AUC %.3f on shuffled outcomes, the mean of %d seeds", mean, seeds)
	}
}

// runCall is what a store tells of a call of a run.
func runCall(c *recordtest.Call) store.RunCall {
	return store.RunCall{ToolRef: c.ToolRef, Key: c.Key, Time: c.Time, Input: c.Input, Output: c.Output, Success: c.Success, State: memoryd.Judged, Score: c.Evaluation.Score}
}

// recall is the share of bad calls with a risk above that of all but a share of the
// good ones.
func recall(risks []float64, isBad []bool, share float64) float64 {
	var good, failed []float64
	for i, r := range risks {
		if isBad[i] {
			failed = append(failed, r)
		} else {
			good = append(good, r)
		}
	}
	slices.SortFunc(good, func(a, b float64) int { return cmp.Compare(b, a) })
	cut := good[max(0, int(float64(len(good))*share)-1)]
	n := 0
	for _, r := range failed {
		if r > cut {
			n++
		}
	}
	return float64(n) / float64(len(failed))
}

// TestMeasureRuns forecasts the second half of each recorded tool with 20 calls or
// more: cold, from the first half alone and not knowing the run, and online, where
// each call is known after it was forecast, and the run is named.
func TestMeasureRuns(t *testing.T) {
	for _, online := range []bool{false, true} {
		var risks []float64
		var isBad []bool
		warned := [2]int{}
		for _, r := range recordedTools(t, false) {
			if len(r.calls) < 20 {
				continue
			}
			half := len(r.calls) / 2
			known := plain(r.calls[:half])
			options := preflight.Options{Tool: r.name, FalseAlarms: 0.05}
			m := preflight.Learn(evidence.Merge(nil, known), options)
			for i := half; i < len(r.calls); i++ {
				c := &r.calls[i]
				p := preflight.Planned{Input: c.Input, Now: c.Time}
				if online {
					p.Run, p.RunCalls = c.Run(), r.before[c.Key]
				}
				if c.Gold == "ok" || c.Gold == "error" {
					a := m.Assess(p)
					risks, isBad = append(risks, *a.Risk), append(isBad, bad(c))
					if len(a.Warnings) > 0 {
						warned[map[bool]int{true: 1}[bad(c)]]++
					}
				}
				if online {
					known = append(known, c.Call)
					if 10*(len(known)-m.Calls()) > len(known) {
						m = preflight.Learn(evidence.Merge(nil, known), options)
					}
				}
			}
		}
		failed := 0
		for _, b := range isBad {
			if b {
				failed++
			}
		}
		at5, at1 := recall(risks, isBad, 0.05), recall(risks, isBad, 0.01)
		t.Logf("online %v: recall %.3f at 5 %% of good calls, %.3f at 1 %%; warned of %.3f of %d bad, %.3f of %d good",
			online, at5, at1, float64(warned[1])/float64(failed), failed, float64(warned[0])/float64(len(isBad)-failed), len(isBad)-failed)
		if online && (at5 < 0.60 || at1 < 0.50) || !online && at5 < 0.25 {
			t.Errorf("recall %.3f at 5 %%, %.3f at 1 %%", at5, at1)
		}
		if warned[0]*20 > len(isBad)-failed {
			t.Errorf("%d of %d good calls are warned of", warned[0], len(isBad)-failed)
		}
	}
}
