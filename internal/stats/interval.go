package stats

import "math"

// Interval is a two-sided 95 % confidence interval: low, high.
type Interval = [2]float64

// z95 is the 0.975 quantile of the standard normal distribution.
const z95 = 1.959963984540054

// Wilson returns the score interval for a share of k among n (E. B. Wilson, "Probable
// inference, the law of succession, and statistical inference", JASA 22, 1927; recommended
// for small n by Brown, Cai and DasGupta, "Interval estimation for a binomial proportion",
// Statistical Science 16, 2001). It lies between 0 and 1 and contains k/n. It is nil if n is
// 0.
func Wilson(k, n int) *Interval { return WilsonShare(Share(k, n), float64(n)) }

// WilsonShare returns Wilson's interval for a share p of n calls, where n may be fractional:
// an effective number. It is nil if n is not positive.
func WilsonShare(p, n float64) *Interval {
	if n <= 0 {
		return nil
	}
	denom := 1 + z95*z95/n
	centre := (p + z95*z95/(2*n)) / denom
	half := z95 / denom * math.Sqrt(p*(1-p)/n+z95*z95/(4*n*n))
	// The bounds at 0 and 1 are exact; rounding must not exclude p itself.
	return &Interval{max(0, min(p, centre-half)), min(1, max(p, centre+half))}
}

// boundedMeanInterval returns an interval for the mean of values between 0 and 1: Wilson's,
// with the mean instead of the share. A variable on [0, 1] with mean m has a variance of at
// most m(1-m) (Bhatia and Davis, American Mathematical Monthly 107, 2000), so it covers at
// least as often as for a share, and it does not shrink to a point when all values are equal.
// It is nil if there are no values.
func boundedMeanInterval(values []float64) *Interval {
	return WilsonShare(meanOf(values), float64(len(values)))
}

// meanOf returns the arithmetic mean; 0 without values.
func meanOf(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// meanInterval returns Student's t interval for the mean of values. It is nil for fewer than
// two values, because they show no spread.
func meanInterval(values []float64) *Interval {
	n := len(values)
	if n < 2 {
		return nil
	}
	mean := meanOf(values)
	var squares float64
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := StudentT975(n-1) * math.Sqrt(squares/float64(n-1)/float64(n))
	return &Interval{mean - half, mean + half}
}

// StudentT975 is the 0.975 quantile of Student's t with df degrees of freedom, at least 1:
// exact for 1 and 2, else the expansion 26.7.5 of Abramowitz and Stegun,
// Handbook of Mathematical Functions (off by less than 0.3 % from df 3 on).
func StudentT975(df int) float64 {
	switch {
	case df <= 1:
		return math.Tan(math.Pi * 0.475)
	case df == 2:
		return 0.95 / math.Sqrt(2*0.975*0.025)
	}
	v, z := float64(df), z95
	z3, z5, z7, z9 := z*z*z, math.Pow(z, 5), math.Pow(z, 7), math.Pow(z, 9)
	return z + (z3+z)/(4*v) + (5*z5+16*z3+3*z)/(96*v*v) +
		(3*z7+19*z5+17*z3-15*z)/(384*v*v*v) +
		(79*z9+776*z7+1482*z5-1920*z3-945*z)/(92160*v*v*v*v)
}
