package stats_test

import (
	"math/rand/v2"
	"testing"

	"memoryd/internal/stats"

	"pgregory.net/rapid"
)

// Values from R: binom::binom.wilson.
func TestWilsonAgreesWithPublishedValues(t *testing.T) {
	for _, tc := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.2775328},
		{10, 10, 0.7224672, 1},
		{5, 10, 0.2365931, 0.7634069},
		{25, 30, 0.6644255, 0.9266434},
		{81, 263, 0.2552715, 0.3662151},
	} {
		got := stats.Wilson(tc.k, tc.n)
		near(t, "low", got[0], tc.low, 1e-4)
		near(t, "high", got[1], tc.high, 1e-4)
	}
}

// The coverage of a discrete interval swings with p and n; averaged over p it
// must be close to what it says.
func TestWilsonCoversNinetyFivePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 20, 50, 100} {
		covered, rounds := 0, 20000
		for range rounds {
			p, k := 0.02+0.96*r.Float64(), 0
			for range n {
				if r.Float64() < p {
					k++
				}
			}
			if i := stats.Wilson(k, n); i[0] <= p && p <= i[1] {
				covered++
			}
		}
		if c := float64(covered) / float64(rounds); c < 0.93 || c > 0.97 {
			t.Errorf("n=%d: covers %.3f", n, c)
		}
	}
}

func TestBoundedMeanIntervalCoversAtLeastNinetyThreePercent(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{10, 30, 100} {
		covered, rounds := 0, 10000
		for range rounds {
			zero, half := r.Float64()*0.5, r.Float64()*0.5
			mean := half*0.5 + (1 - zero - half)
			scores := make([]float64, n)
			for i := range scores {
				switch u := r.Float64(); {
				case u < zero:
				case u < zero+half:
					scores[i] = 0.5
				default:
					scores[i] = 1
				}
			}
			if i := stats.BoundedMeanInterval(scores); i[0] <= mean && mean <= i[1] {
				covered++
			}
		}
		if c := float64(covered) / float64(rounds); c < 0.93 {
			t.Errorf("n=%d: covers %.3f", n, c)
		}
	}
}

func TestMeanIntervalCoversNinetyFivePercentOfNormalValues(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{2, 3, 4, 8, 30} {
		covered, rounds := 0, 20000
		values := make([]float64, n)
		for range rounds {
			for i := range values {
				values[i] = 5 + 2*r.NormFloat64()
			}
			if i := stats.MeanInterval(values); i[0] <= 5 && 5 <= i[1] {
				covered++
			}
		}
		if c := float64(covered) / float64(rounds); c < 0.94 || c > 0.96 {
			t.Errorf("n=%d: covers %.3f", n, c)
		}
	}
}

func TestIntervalsContainTheirEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5000).Draw(t, "n")
		k := rapid.IntRange(0, n).Draw(t, "k")
		i, p := stats.Wilson(k, n), float64(k)/float64(n)
		if i[0] < 0 || i[1] > 1 || i[0] > p || i[1] < p {
			t.Fatalf("%d of %d: %v", k, n, *i)
		}
	})
}

func TestOneValueSaysNothingOfItsSpread(t *testing.T) {
	if got := stats.MeanInterval([]float64{3}); got != nil {
		t.Errorf("got %v", *got)
	}
}
