package stats

import (
	"math"
	"sort"
)

// Table counts calls by a condition and an outcome.
type Table struct {
	// With counts calls that meet the condition, and WithBad those of them with the outcome.
	// Without and WithoutBad do the same for the other calls.
	With, WithBad       int
	Without, WithoutBad int
}

// Fisher computes exact tests for tables of up to a given number of calls. It holds the
// logarithms of the factorials.
type Fisher struct{ logFactorial []float64 }

// NewFisher prepares tests for tables of at most n calls.
func NewFisher(n int) Fisher {
	lf := make([]float64, n+1)
	for i := 2; i <= n; i++ {
		lf[i] = lf[i-1] + math.Log(float64(i))
	}
	return Fisher{lf}
}

// FisherExact is the two-sided test of a single table. For many tables, use Fisher.
func FisherExact(t Table) float64 { return NewFisher(t.With + t.Without).P(t) }

// P returns the two-sided p value of Fisher's exact test (R. A. Fisher, Statistical Methods
// for Research Workers, 1934): the probability, given the margins, of a table that is no more
// likely than t.
func (f Fisher) P(t Table) float64 {
	bad := t.WithBad + t.WithoutBad
	low, high := max(0, bad-t.Without), min(bad, t.With)
	if low == high {
		return 1
	}
	pmf := func(k int) float64 { return f.logPMF(k, t.With, t.Without, bad) }
	// Two equally likely tables differ by rounding only: hence the tolerance.
	bound := pmf(t.WithBad) + 1e-9
	mode := (bad + 1) * (t.With + 1) / (t.With + t.Without + 2)
	mode = min(max(mode, low), high)
	var p float64
	// On each side of the mode the probabilities fall, so the tables that count
	// are those beyond the first one that is unlikely enough.
	left := low - 1 + sort.Search(mode-low+1, func(i int) bool { return pmf(low+i) > bound })
	right := mode + 1 + sort.Search(high-mode, func(i int) bool { return pmf(mode+1+i) <= bound })
	for k := left; k >= low && grow(&p, math.Exp(pmf(k))); k-- {
	}
	for k := right; k <= high && grow(&p, math.Exp(pmf(k))); k++ {
	}
	return min(1, p)
}

// grow adds to a sum and reports whether the addend still mattered.
func grow(sum *float64, add float64) bool {
	*sum += add
	return add > *sum*1e-15
}

// logPMF is the logarithm of the hypergeometric probability of k calls with the
// outcome among with.
func (f Fisher) logPMF(k, with, without, bad int) float64 {
	lf := f.logFactorial
	n := with + without
	return lf[with] - lf[k] - lf[with-k] + lf[without] - lf[bad-k] - lf[without-bad+k] -
		(lf[n] - lf[bad] - lf[n-bad])
}
