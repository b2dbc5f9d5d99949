package stats_test

import (
	"math"
	"testing"

	"memoryd/internal/stats"

	"pgregory.net/rapid"
)

// Values from R: fisher.test.
func TestFisherAgreesWithPublishedValues(t *testing.T) {
	for _, tc := range []struct {
		table stats.Table
		want  float64
	}{
		{stats.Table{With: 4, WithBad: 3, Without: 4, WithoutBad: 1}, 0.4857143},    // the lady tasting tea
		{stats.Table{With: 17, WithBad: 2, Without: 13, WithoutBad: 10}, 0.0005367}, // Fisher's criminal twins
		{stats.Table{With: 15, WithBad: 15, Without: 15, WithoutBad: 0}, 1.289329e-08},
		{stats.Table{With: 5, WithBad: 0, Without: 5, WithoutBad: 0}, 1},
		{stats.Table{With: 0, WithBad: 0, Without: 5, WithoutBad: 3}, 1},
	} {
		near(t, "p", stats.FisherExact(tc.table), tc.want, tc.want*1e-3)
	}
}

func TestFisherEqualsTheSumOverAllTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		with, without := rapid.IntRange(0, 30).Draw(t, "with"), rapid.IntRange(0, 30).Draw(t, "without")
		tb := stats.Table{
			With: with, WithBad: rapid.IntRange(0, with).Draw(t, "withBad"),
			Without: without, WithoutBad: rapid.IntRange(0, without).Draw(t, "withoutBad"),
		}
		bad := tb.WithBad + tb.WithoutBad
		prob := func(k int) float64 { return choose(with, k) * choose(without, bad-k) / choose(with+without, bad) }
		var want float64
		for k := max(0, bad-without); k <= min(bad, with); k++ {
			if prob(k) <= prob(tb.WithBad)*(1+1e-9) {
				want += prob(k)
			}
		}
		if got := stats.FisherExact(tb); math.Abs(got-want) > 1e-9 {
			t.Fatalf("%+v: got %v, want %v", tb, got, want)
		}
	})
}

func choose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= k; i++ {
		c = c * float64(n-k+i) / float64(i)
	}
	return c
}

// By hand: the logarithm has the standard error sqrt(1/10-1/20+1/5-1/40).
func TestTheMedianSortsNothingInPlace(t *testing.T) {
	v := []float64{9, 1, 4, 2, 6, 1, 2}
	near(t, "median", stats.Median(v), 2, 0)
	if v[0] != 9 {
		t.Error("the values were sorted in place")
	}
	near(t, "even", stats.Median([]float64{1, 2, 3, 10}), 2.5, 0)
	if !math.IsNaN(stats.Median(nil)) {
		t.Error("the median of nothing is a number")
	}
}
