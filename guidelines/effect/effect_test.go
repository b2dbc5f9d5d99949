package effect

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"memoryd"
)

// world is agents that work in runs on tools with hidden rules, as test programs of
// closed loops have them: each run has the habit to break some rules; after a failure an
// agent mends the rule, sends the same again or gives up, and one that was told obeys nine
// of ten times.
type world struct {
	rng   *rand.Rand
	rules int
	learn bool // agents get better by themselves as time passes
}

// run gives the outcomes of the calls of one run.
func (w *world) run(told bool, at float64) (failed []bool) {
	habit := make([]bool, w.rules)
	for i := range habit {
		habit[i] = w.rng.Float64() < 0.35*(1-0.5*at*b2f(w.learn))
	}
	for range 3 + w.rng.IntN(8) {
		rule := w.rng.IntN(w.rules)
		bad := habit[rule] && !(told && w.rng.Float64() < 0.9) || w.rng.Float64() < 0.05
		for tries := 0; ; tries++ {
			failed = append(failed, bad)
			if !bad || tries > 3 {
				break
			}
			switch p := w.rng.Float64(); {
			case p < 0.6:
				bad, habit[rule] = false, false
			case p > 0.85:
				tries = 9
				bad = false
			}
			if tries == 9 {
				break
			}
		}
	}
	return failed
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// calls are those of n runs, newest first, of which a share was told nothing.
func (w *world) calls(n int, untold float64) (calls []memoryd.Call) {
	for i := range n {
		told := w.rng.Float64() >= untold
		for _, bad := range w.run(told, float64(i)/float64(n)) {
			score := memoryd.ScoreSuccess
			if bad {
				score = memoryd.ScoreFailure
			}
			calls = append(calls, memoryd.Call{
				Metadata: json.RawMessage(fmt.Sprintf(`{"trajectory_id":"r%d","told":%t}`, i, told)), TimeCost: 2, TokenCost: -1,
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: score},
			})
		}
	}
	slices.Reverse(calls)
	return calls
}

// truth is the difference of the failure rates over very many runs.
func truth(learn bool) float64 {
	var n, bad [2]float64
	w := world{rand.New(rand.NewPCG(99, 1)), 6, learn} //nolint:gosec // a simulation
	for i := range 60_000 {
		for _, f := range w.run(i%2 == 0, float64(i)/60_000) {
			n[i%2]++
			bad[i%2] += b2f(f)
		}
	}
	return bad[1]/n[1] - bad[0]/n[0]
}

func TestTheIntervalCoversTheTrueEffectInAtLeast18Of20Seeds(t *testing.T) {
	t.Parallel()
	for _, learn := range []bool{false, true} {
		want := truth(learn)
		if want < 0.1 {
			t.Fatalf("there is no effect to find: %v", want)
		}
		covered, found := 0, 0
		for seed := range uint64(20) {
			w := world{rand.New(rand.NewPCG(seed, 7)), 6, learn} //nolint:gosec // a simulation
			e := Count(w.calls(120, 0.4)).Effect()
			if e.Basis != heldOut {
				t.Fatalf("seed %d: %+v", seed, e)
			}
			if e.Less.Low <= want && want <= e.Less.High {
				covered++
			}
			if e.Less.Low > 0 {
				found++
			}
			if math.Abs(e.Avoided.Best-e.Less.Best*float64(e.Told.Calls)) > 1e-9 || e.Seconds.Best != 2*e.Avoided.Best || e.Tokens.Best != 0 {
				t.Errorf("seed %d: %+v", seed, e)
			}
		}
		t.Logf("learning %t: truth %.3f, covered in %d, found in %d of 20", learn, want, covered, found)
		if covered < 18 || found < 15 {
			t.Errorf("learning %t: the truth %.3f is covered in %d of 20 seeds, an effect found in %d", learn, want, covered, found)
		}
	}
}

// Where calls report nothing, the judge goes by their wording: it misses failures, or takes
// them for partial successes. The interval covered the truth in 3 of 20 seeds.
func TestTheIntervalCoversTheTrueEffectWhereTheJudgeMustSeeFailures(t *testing.T) {
	t.Parallel()
	want := truth(false)
	for _, partial := range []float64{0, 0.3, 1} {
		covered, naive, found := 0, 0, 0
		for seed := range uint64(20) {
			w := world{rand.New(rand.NewPCG(seed, 7)), 6, false} //nolint:gosec // a simulation
			calls := w.calls(120, 0.4)
			for i := range calls {
				e := &calls[i].Evaluation
				switch e.JudgedBy = memoryd.JudgedByRules; {
				case e.Score == memoryd.ScoreSuccess:
				case w.rng.Float64() < partial:
					e.Score = memoryd.ScorePartial
				case w.rng.Float64() < 0.45:
					e.Score = memoryd.ScoreSuccess
				}
			}
			c := Count(calls)
			e := c.Effect()
			if e.Less.Low <= want && want <= e.Less.High {
				covered++
			}
			if e.Less.Low > 0 {
				found++
			}
			if less := e.Untold.Rate - e.Told.Rate; math.Abs(less-want) < 0.06 {
				naive++
			}
			if !strings.Contains(e.Because(), "known from wording only") {
				t.Error(e.Because())
			}
		}
		t.Logf("%.0f %% partial: truth %.3f, covered in %d, found in %d of 20", 100*partial, want, covered, found)
		if covered < 18 || naive > 10 || partial < 1 && found < 15 {
			t.Errorf("%.0f %% partial: covered in %d of 20 seeds (in %d by failures alone), found in %d", 100*partial, covered, naive, found)
		}
	}
}

// Where being told changes nothing, an effect is hardly ever claimed: the control.
func TestWithoutAnEffectNoneIsFound(t *testing.T) {
	t.Parallel()
	claimed := 0
	for seed := range uint64(100) {
		w := world{rand.New(rand.NewPCG(seed, 3)), 6, false} //nolint:gosec // a simulation
		calls := w.calls(100, 1)
		for i := range calls {
			var id int
			_, _ = fmt.Sscanf(calls[i].Run(), "r%d", &id)
			calls[i].Metadata = json.RawMessage(fmt.Sprintf(`{"trajectory_id":"r%d","told":%t}`, id, id%2 == 0))
		}
		if e := Count(calls).Effect(); e.Less.Low > 0 || e.Less.High < 0 {
			claimed++
		}
	}
	if claimed > 10 {
		t.Errorf("an effect is claimed in %d of 100 worlds without one", claimed)
	}
}

func TestTooFewRunsAreNotCompared(t *testing.T) {
	t.Parallel()
	w := world{rand.New(rand.NewPCG(1, 1)), 6, false} //nolint:gosec // a simulation
	if e := Count(w.calls(9, 0.5)).Effect(); e.Basis != notEnough || e.Avoided != (Range{}) || e.Told.Calls == 0 || e.Verdict() != "Not enough data" || !strings.Contains(e.Because(), "Each side needs 8 runs") {
		t.Errorf("%+v", e)
	}
	var nobody Effect
	if nobody.Verdict() != "Not enough data" || !strings.Contains(nobody.Because(), "No call says") {
		t.Error(nobody.Verdict(), nobody.Because())
	}
	calls := w.calls(60, 0)
	if e := Count(calls).Effect(); e.Basis != notEnough {
		t.Errorf("nobody is there to compare with: %+v", e)
	}
	for i := range calls[len(calls)/2:] { // the older half knew of nothing
		calls[len(calls)/2+i].Metadata = json.RawMessage(fmt.Sprintf(`{"trajectory_id":"%s"}`, calls[len(calls)/2+i].Run()))
	}
	if e := Count(calls).Effect(); e.Basis != beforeAfter || !strings.Contains(e.Because(), "This is an estimate") {
		t.Errorf("%+v", e)
	}
}

// Clients send the version that an agent was shown as a number, with a point or not, or as its digits.
func TestTheShownVersionIsReadAsClientsSendIt(t *testing.T) {
	for metadata, want := range map[string]int64{
		`{"guideline_version":3}`: 3, `{"guideline_version":3.0}`: 3, `{"guideline_version":"3"}`: 3,
		`{"guideline_version":"draft"}`: 0, `{"guideline_version":[3]}`: 0, `{}`: 0, ``: 0,
	} {
		if got := Shown(json.RawMessage(metadata)); got != want {
			t.Errorf("%s: got %d, want %d", metadata, got, want)
		}
	}
}
