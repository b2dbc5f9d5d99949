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

// lanes is how many units are summed at a time, as many as processors have
// registers for; it divides Units.
const lanes = 8

// sum adds to the units from h on what the features at at contribute, in order.
func (w *Weights) sum(units *[lanes]float64, x *Features, at []uint8, h int) {
	a, b, c, d, e, f, g, i := units[0], units[1], units[2], units[3], units[4], units[5], units[6], units[7]
	for _, k := range at {
		v, u := x[k], (*[lanes]float64)(w.Hidden[k][h:h+lanes])
		a += v * u[0]
		b += v * u[1]
		c += v * u[2]
		d += v * u[3]
		e += v * u[4]
		f += v * u[5]
		g += v * u[6]
		i += v * u[7]
	}
	*units = [lanes]float64{a, b, c, d, e, f, g, i}
}

// Need is the estimated probability.
func (w *Weights) Need(x *Features) float64 {
	var at [FeatureCount]uint8 // the features that are not 0
	n := 0
	for i, v := range x {
		if v != 0 {
			at[n] = uint8(i)
			n++
		}
	}
	units := w.Bias
	for h := 0; h < Units; h += lanes {
		w.sum((*[lanes]float64)(units[h:h+lanes]), x, at[:n], h)
	}
	sum := w.OutBias
	for h, u := range units {
		sum += max(0, u) * w.Out[h]
	}
	return 1 / (1 + math.Exp(-sum))
}
