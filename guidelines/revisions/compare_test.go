package revisions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"memoryd/guidelines/revisions"
)

func TestDecisions(t *testing.T) {
	for _, tc := range []struct {
		prev, cur revisions.Counts
		worse     bool
	}{
		{revisions.Counts{}, revisions.Counts{}, false},
		{revisions.Counts{Calls: 100, Bad: 10}, revisions.Counts{}, false},
		{revisions.Counts{Calls: 100, Bad: 10}, revisions.Counts{Calls: 5, Bad: 5}, false},
		{revisions.Counts{Calls: 100, Bad: 10}, revisions.Counts{Calls: 30, Bad: 20}, true},
		{revisions.Counts{Calls: 100, Bad: 60}, revisions.Counts{Calls: 60, Bad: 6}, false},
		{revisions.Counts{Calls: 100, Bad: 10}, revisions.Counts{Calls: 30, Bad: 4}, false},
		{revisions.Counts{Calls: 1000, Bad: 0}, revisions.Counts{Calls: 1000, Bad: 0}, false},
		{revisions.Counts{Calls: 100000, Bad: 50000}, revisions.Counts{Calls: 100000, Bad: 99999}, true},
	} {
		if revisions.Worse(tc.prev, tc.cur) != tc.worse {
			t.Errorf("%+v, %+v: not %v", tc.prev, tc.cur, tc.worse)
		}
	}
}

// TestErrorRateUnderPeeking looks after every tenth call of up to 300: a version
// that is as good as the one before is hardly ever called worse, one that does
// harm is found soon.
func TestErrorRateUnderPeeking(t *testing.T) {
	const runs = 100
	for _, p := range []float64{0.05, 0.2, 0.5} {
		for _, harm := range []float64{0, 0.2, 0.4} {
			found := 0
			var delays []int
			for seed := range uint64(runs) {
				r := rand.New(rand.NewPCG(seed, 9))
				draw := func(q float64) int {
					if r.Float64() < q {
						return 1
					}
					return 0
				}
				prev, cur := revisions.Counts{Calls: 200}, revisions.Counts{}
				for range prev.Calls {
					prev.Bad += draw(p)
				}
				for cur.Calls < 300 {
					cur.Calls++
					cur.Bad += draw(p + harm)
					if cur.Calls%10 == 0 && revisions.Worse(prev, cur) {
						found++
						delays = append(delays, cur.Calls)
						break
					}
				}
			}
			slices.Sort(delays)
			delay := 0
			if len(delays) > 0 {
				delay = delays[len(delays)/2]
			}
			t.Logf("bad calls %.0f %% before, %.0f %% after: called worse in %.1f %% of runs, median after %d calls", 100*p, 100*(p+harm), 100*float64(found)/runs, delay)
			if harm == 0 && found > runs*8/100 || harm == 0.4 && (found < runs*95/100 || delay > 40) {
				t.Errorf("%d of %d, after %d calls", found, runs, delay)
			}
		}
	}
}

func TestAShareOfTheRunsIsToldNothingAndAlwaysTheSame(t *testing.T) {
	m := revisions.Manager{Config: revisions.Config{UntoldShare: 0.3}}
	untold := 0
	for i := range 10_000 {
		run := fmt.Sprintf("run-%d", i)
		is := m.Untold("w", run)
		if is != m.Untold("w", run) {
			t.Fatal("two answers")
		}
		if is {
			untold++
		}
	}
	if untold < 2800 || untold > 3200 {
		t.Errorf("%d of 10000 runs", untold)
	}
	if m.Untold("w", "") {
		t.Error("an agent that names no run is told nothing")
	}
	if m.Config.UntoldShare = 0; m.Untold("w", "run-1") {
		t.Error("by default all are told")
	}
}
