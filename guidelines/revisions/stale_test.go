package revisions_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/guidelines/revisions"
)

var written = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// observe makes n calls that succeed with probability p and take about seconds.
func observe(r *rand.Rand, n int, p, seconds float64) []revisions.Observation {
	os := make([]revisions.Observation, n)
	for i := range os {
		s := memoryd.Sample{Success: true, State: memoryd.Judged, Score: 1, TimeCost: seconds * (0.8 + 0.4*r.Float64()), TokenCost: -1}
		if r.Float64() >= p {
			s.Success, s.Score = false, 0
			os[i].Error = fmt.Sprintf("error-%d", r.IntN(3))
		}
		os[i].Sample = s
	}
	return os
}

func kinds(rs []revisions.Reason) []revisions.Change {
	var ks []revisions.Change
	for _, r := range rs {
		ks = append(ks, r.Change)
	}
	return ks
}

func TestReasons(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	base := revisions.Baseline{Written: written, Schema: "a", Observations: observe(r, 100, 0.9, 1)}
	otherErrors := observe(r, 100, 0.5, 1)
	changed := slices.Clone(otherErrors[:60])
	for i := range changed {
		if changed[i].Error != "" {
			changed[i].Error = "error-new"
		}
	}
	for name, tc := range map[string]struct {
		base   revisions.Baseline
		since  []revisions.Observation
		schema string
		after  time.Duration
		want   []revisions.Change
	}{
		"right after it was written": {base, nil, "a", 0, nil},
		"old but unused":             {base, nil, "a", 1000 * time.Hour, nil},
		"none, too few calls":        {revisions.Baseline{}, observe(r, 19, 1, 1), "a", 0, nil},
		"none, enough calls":         {revisions.Baseline{}, observe(r, 20, 1, 1), "a", 0, []revisions.Change{revisions.NoGuideline}},
		"another schema":             {base, nil, "b", 0, []revisions.Change{revisions.SchemaChanged}},
		"schema not known":           {base, nil, "", 0, nil},
		"a hundred calls":            {base, observe(r, 100, 0.9, 1), "a", 0, []revisions.Change{revisions.NewCalls}},
		"old":                        {base, observe(r, 3, 0.9, 1), "a", 1000 * time.Hour, []revisions.Change{revisions.TooOld}},
		"it fails now":               {base, observe(r, 30, 0.2, 1), "a", 0, []revisions.Change{revisions.SuccessChanged, revisions.ScoreChanged, revisions.ErrorsChanged}},
		"it is slow now":             {base, observe(r, 30, 0.9, 5), "a", 0, []revisions.Change{revisions.LatencyChanged}},
		"other errors":               {revisions.Baseline{Written: written, Observations: otherErrors}, changed, "", 0, []revisions.Change{revisions.ErrorsChanged}},
	} {
		got := revisions.StaleReasons(configtest.Section[revisions.Config]("revisions").Staleness, tc.base, tc.since, tc.schema, written.Add(tc.after))
		if !slices.Equal(kinds(got), tc.want) {
			t.Errorf("%s: got %+v, want %v", name, got, tc.want)
		}
		for _, reason := range got {
			if reason.Text == "" || reason.P > 0.05 {
				t.Errorf("%s: reason %+v", name, reason)
			}
		}
	}
}

// TestDelayAndFalseAlarms simulates tools that change at the moment a guideline was
// written, by 0, 10, 20 and 40 points of the success rate, asks at each checkpoint,
// and tells after how many the change was found.
func TestDelayAndFalseAlarms(t *testing.T) {
	cfg := configtest.Section[revisions.Config]("revisions").Staleness
	for _, from := range []float64{0.95, 0.7} {
		for _, shift := range []float64{0, 0.1, 0.2, 0.4} {
			found, calls, lives := 0, 0, 200
			if shift > 0 {
				lives = 60
			}
			var delays []int
			for seed := range uint64(lives) { //nolint:gosec // small
				r := rand.New(rand.NewPCG(seed, 3))
				base := revisions.Baseline{Written: written, Observations: observe(r, 100, from, 1)}
				since := observe(r, cfg.After-1, from-shift, 1)
				delay := 0
				for n := 5; n <= len(since) && delay == 0; n += 5 { // nothing is tested in between
					calls += 5
					if len(revisions.StaleReasons(cfg, base, since[:n], "", written)) > 0 {
						delay = n
					}
				}
				if delay > 0 {
					found++
					delays = append(delays, delay)
				}
			}
			slices.Sort(delays)
			median := "none"
			if len(delays) > 0 {
				median = fmt.Sprint(delays[len(delays)/2])
			}
			if shift == 0 {
				t.Logf("success %.2f unchanged: %d of %d lives with a false alarm, %.2f per 1,000 calls", from, found, lives, 1000*float64(found)/float64(calls))
				if float64(found) > cfg.FalseAlarms*float64(lives) {
					t.Errorf("too many false alarms")
				}
				continue
			}
			t.Logf("success %.2f minus %2.0f points: found in %3.0f %% of lives of %d calls, median delay of those %s calls", from, 100*shift, 100*float64(found)/float64(lives), cfg.After, median)
			if shift == 0.4 && (found < lives*95/100 || delays[len(delays)/2] > 40) {
				t.Errorf("40 points: found %d of %d, median delay %s", found, lives, median)
			}
		}
	}
}

func TestSettingsAreChecked(t *testing.T) {
	if err := configtest.Section[revisions.Config]("revisions").Staleness.Validate(); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*revisions.Staleness){
		func(c *revisions.Staleness) { c.FirstAfter = 0 }, func(c *revisions.Staleness) { c.After = 1 },
	} {
		c := configtest.Section[revisions.Config]("revisions").Staleness
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%+v passes", c)
		}
	}
}
