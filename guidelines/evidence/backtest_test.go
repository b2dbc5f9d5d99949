package evidence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"memoryd"
	"memoryd/guidelines/evidence"
)

// limits is a tool that fails beyond a limit in the calls for which broken holds.
func limits(tb testing.TB, n int, broken func(i int) bool) []memoryd.Call {
	tb.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	var calls []memoryd.Call
	for i := range n {
		in := object{"limit": pick(r, 5, 10, 1000), "query": words(r, 3)}
		if in["limit"] == 1000 && broken(i) {
			calls = append(calls, call(tb, i, in, "Error: limit too large", 0, 1, 10))
		} else {
			calls = append(calls, call(tb, i, in, "ok", 1, 1, 10))
		}
	}
	return calls
}

func TestWhatHoldsInBothPartsIsConfirmed(t *testing.T) {
	calls := limits(t, 120, func(int) bool { return true })
	e := evidence.Mine(calls)
	if len(e.Conditions) != 1 || e.Conditions[0].Provisional || e.Conditions[0].Backtest == nil {
		t.Fatalf("got %+v", e.Conditions)
	}
	b := e.Conditions[0].Backtest
	if whole := e.Conditions[0].Table; b.Learned.With+b.Held.With != whole.With || b.Learned.WithoutBad+b.Held.WithoutBad != whole.WithoutBad || b.P > 0.05 {
		t.Errorf("backtest %+v of %+v", b, whole)
	}
}

// A fault that has been mended is not told as if it were there still.
func TestWhatTheNewerPartContradictsIsRejected(t *testing.T) {
	e := evidence.Mine(limits(t, 120, func(i int) bool { return i < 60 }))
	if len(e.Conditions) != 0 || e.Rejected == 0 {
		t.Errorf("%d rejected, published %+v", e.Rejected, e.Conditions)
	}
}

func TestAShortHistoryIsProvisional(t *testing.T) {
	e := evidence.Mine(limits(t, 13, func(int) bool { return true }))
	if len(e.Conditions) != 1 || !e.Conditions[0].Provisional || e.Conditions[0].Backtest != nil {
		t.Errorf("got %+v", e.Conditions)
	}
}

// The numbers of a condition can be computed again from its facts.
func TestNumbersCanBeRecomputed(t *testing.T) {
	for _, p := range plantedTools() {
		calls := generate(t, p, 8, 100)
		for _, c := range evidence.Mine(calls).Conditions {
			with, bad := 0, 0
			var behind []memoryd.CallKey
			for _, call := range calls {
				score := call.Evaluation.Score
				if c.Outcome == evidence.Partial && score == memoryd.ScoreFailure {
					continue
				}
				if !holdsAny(evidence.MatchOf(call.Input), &c) {
					continue
				}
				with++
				if c.Outcome == evidence.Failed && score == memoryd.ScoreFailure || c.Outcome == evidence.Partial && score == memoryd.ScorePartial {
					bad++
					behind = append(behind, call.Key)
				}
			}
			if c.Raises() && (with != c.With || bad != c.WithBad || !slices.Equal(behind, c.Calls)) {
				t.Errorf("%s: %s counts %d of %d, recomputed %d of %d", p.name, c.ID, c.WithBad, c.With, bad, with)
			}
		}
	}
}

// holdsAny reports whether the facts of c hold, which they do all or none.
func holdsAny(m evidence.Match, c *evidence.Condition) bool {
	return m.Holds(c.Facts[0])
}
