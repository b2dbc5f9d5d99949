package facts

import "math"

// Units is the number of hidden units of the Weights.
const Units = 24

// Weights estimate from its features how likely a later tool call passes a fact:
// a net with one layer of units, each the positive part of a weighted sum. The
// zero Weights think the same of every fact.
type Weights struct {
	Hidden  [FeatureCount][Units]float64
	Bias    [Units]float64
	Out     [Units]float64
	OutBias float64
}

// Need is the estimated probability.
func (w *Weights) Need(x *Features) float64 {
	units := w.Bias
	for i, v := range x {
		if v == 0 {
			continue
		}
		for h, u := range &w.Hidden[i] {
			units[h] += v * u
		}
	}
	sum := w.OutBias
	for h, u := range units {
		sum += max(0, u) * w.Out[h]
	}
	return 1 / (1 + math.Exp(-sum))
}
