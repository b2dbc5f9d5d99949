package stats

import "math"

// Table counts calls by a condition and an outcome.
type Table struct {
	// With counts calls that meet the condition, and WithBad those of them with the outcome.
	// Without and WithoutBad do the same for the other calls.
	With, WithBad       int
	Without, WithoutBad int
}

// FisherExact returns the two-sided p value of Fisher's exact test (R. A. Fisher, Statistical
// Methods for Research Workers, 1934): the probability, given the margins, of a table that is
// no more likely than t.
func FisherExact(t Table) float64 {
	bad := t.WithBad + t.WithoutBad
	likelihood := func(k int) float64 {
		return LogChoose(t.With, k) + LogChoose(t.Without, bad-k) - LogChoose(t.With+t.Without, bad)
	}
	limit := likelihood(t.WithBad) + 1e-9 // two equally likely tables differ by rounding
	p := 0.0
	for k := max(0, bad-t.Without); k <= min(bad, t.With); k++ {
		if l := likelihood(k); l <= limit {
			p += math.Exp(l)
		}
	}
	return min(1, p)
}

// LogChoose is the logarithm of the binomial coefficient.
func LogChoose(n, k int) float64 {
	of := func(x int) float64 { l, _ := math.Lgamma(float64(x + 1)); return l }
	return of(n) - of(k) - of(n-k)
}
