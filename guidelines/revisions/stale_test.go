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
func observe(r *rand.Rand, n int, p, seconds float64) []memoryd.Call {
	calls := make([]memoryd.Call, n)
	for i := range calls {
		c := memoryd.Call{Success: true, TimeCost: seconds * (0.8 + 0.4*r.Float64()), TokenCost: -1}
		c.Evaluation = memoryd.Evaluation{State: memoryd.Judged, Score: 1}
		if r.Float64() >= p {
			c.Success, c.Evaluation.Score = false, 0
			c.Evaluation.Rule = fmt.Sprintf("error-%d", r.IntN(3))
		}
		calls[i] = c
	}
	return calls
}

// described says in the newest call what parameters the tool has.
func described(schema string, calls []memoryd.Call) []memoryd.Call {
	calls = slices.Clone(calls)
	calls[len(calls)-1].Metadata = fmt.Appendf(nil, `{"tool_schema":{"title":%q}}`, schema)
	return calls
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
	base := described("a", observe(r, 100, 0.9, 1))
	otherErrors := observe(r, 100, 0.5, 1)
	changed := slices.Clone(otherErrors[:60])
	for i := range changed {
		if e := &changed[i].Evaluation; e.Rule != "" {
			e.Rule = "error-new"
		}
	}
	for name, tc := range map[string]struct {
		written time.Time
		before  []memoryd.Call
		since   []memoryd.Call
		after   time.Duration
		want    []revisions.Change
	}{
		"right after it was written": {written, base, nil, 0, nil},
		"old but unused":             {written, base, nil, 1000 * time.Hour, nil},
		"none, too few calls":        {time.Time{}, nil, observe(r, 19, 1, 1), 0, nil},
		"none, enough calls":         {time.Time{}, nil, observe(r, 20, 1, 1), 0, []revisions.Change{revisions.NoGuideline}},
		"another schema":             {written, base, described("b", observe(r, 1, 1, 1)), 0, []revisions.Change{revisions.SchemaChanged}},
		"schema not known":           {written, base, observe(r, 1, 1, 1), 0, nil},
		"a hundred calls":            {written, base, observe(r, 100, 0.9, 1), 0, []revisions.Change{revisions.NewCalls}},
		"old":                        {written, base, observe(r, 3, 0.9, 1), 1000 * time.Hour, []revisions.Change{revisions.TooOld}},
		"it fails now":               {written, base, observe(r, 30, 0.2, 1), 0, []revisions.Change{revisions.OutcomesChanged}},
		"other errors":               {written, otherErrors, changed, 0, []revisions.Change{revisions.OutcomesChanged}},
	} {
		got := revisions.StaleReasons(configtest.Section[revisions.Config]("revisions").Staleness, tc.written, tc.before, tc.since, written.Add(tc.after))
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
				before := observe(r, 100, from, 1)
				since := observe(r, cfg.After-1, from-shift, 1)
				delay := 0
				for n := 5; n <= len(since) && delay == 0; n += 5 { // nothing is tested in between
					calls += 5
					if len(revisions.StaleReasons(cfg, written, before, since[:n], written)) > 0 {
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
				if float64(found) > 0.05*float64(lives) {
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
		func(c *revisions.Staleness) { c.After = 1 },
	} {
		c := configtest.Section[revisions.Config]("revisions").Staleness
		change(&c)
		if c.Validate() == nil {
			t.Errorf("%+v passes", c)
		}
	}
}
