package stats

import (
	"math"
	"slices"
)

// Median is the middle of values (the mean of the two middle ones when their
// number is even), NaN of nothing. It does not change values.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := slices.Clone(values)
	slices.Sort(s)
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return s[m-1]/2 + s[m]/2
}

// MAD is the median absolute deviation from the median, NaN of nothing. Times
// 1.4826 it estimates the standard deviation of normal values (F. R. Hampel,
// "The influence curve and its role in robust estimation", JASA 69, 1974).
func MAD(values []float64) float64 {
	m := Median(values)
	dev := make([]float64, len(values))
	for i, v := range values {
		dev[i] = math.Abs(v - m)
	}
	return Median(dev)
}

// Outlier reports whether v stands out above values with the given median and
// MAD: a modified z score above 3.5 (Iglewicz and Hoaglin, "How to detect and
// handle outliers", 1993). Where more than half of the values are equal, so that
// MAD is 0, it falls back on twice the median.
func Outlier(v, median, mad float64) bool {
	if mad == 0 {
		return v > 2*median
	}
	return 0.6745*(v-median)/mad > 3.5
}
