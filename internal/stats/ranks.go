package stats

import (
	"math"
	"slices"
)

// Ranks are the ranks of values from 1. Equal values share the mean of their ranks. Ranks
// also holds what the rank-sum test needs to correct for ties.
type Ranks struct {
	Rank []float64
	ties float64 // sum of t³-t over groups of t equal values
}

// RanksOf ranks values.
func RanksOf(values []float64) Ranks {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case values[a] < values[b]:
			return -1
		case values[a] > values[b]:
			return 1
		}
		return a - b
	})
	r := Ranks{Rank: make([]float64, len(values))}
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && values[order[j]] == values[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r.Rank[order[k]] = float64(i+j+1) / 2
		}
		t := float64(j - i)
		r.ties += t*t*t - t
		i = j
	}
	return r
}

// P returns the two-sided p value of the rank-sum test (Mann and Whitney, "On a test of
// whether one of two random variables is stochastically larger than the other", Annals of
// Mathematical Statistics 18, 1947) for a group of size values whose ranks sum up to sum, in
// the normal approximation with corrections for ties and continuity. For small groups, it
// errs towards larger values in the tails.
func (r Ranks) P(size int, sum float64) float64 {
	n, k := float64(len(r.Rank)), float64(size)
	if k == 0 || k == n {
		return 1
	}
	mean := k * (n + 1) / 2
	variance := k * (n - k) / 12 * (n + 1 - r.ties/(n*(n-1)))
	if variance <= 0 {
		return 1
	}
	distance := math.Abs(sum-mean) - 0.5
	if distance <= 0 {
		return 1
	}
	return math.Erfc(distance / math.Sqrt(variance) / math.Sqrt2)
}
