package benchmark

import "memoryd/internal/stats"

// Share is k of n with Wilson's 95 % interval. Without n it has no value.
type Share struct {
	Value *float64        `json:"value"` // 0 to 1; null where n is 0
	K     int             `json:"k"`
	N     int             `json:"n"`
	CI95  *stats.Interval `json:"ci95"`
}

func shareOf(k, n int) Share {
	s := Share{K: k, N: n, CI95: stats.Wilson(k, n)}
	if n > 0 {
		value := float64(k) / float64(n)
		s.Value = &value
	}
	return s
}

// Estimate is a figure over n calls with a 95 % interval, where it is defined.
type Estimate struct {
	Value *float64        `json:"value"`
	N     int             `json:"n"`
	CI95  *stats.Interval `json:"ci95"`
}

func estimate(value float64, n int, ci *stats.Interval) Estimate {
	return Estimate{Value: &value, N: n, CI95: ci}
}
