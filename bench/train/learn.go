package main

import (
	"math"

	"memoryd/evaluate/score"
)

// example is the features of a call, whether the answer to a question is yes, and how
// much it counts.
type example struct {
	features []uint32
	yes      bool
	weight   float64
	logit    float64 // the answer by what is learned so far
}

// How the model is fitted. Weights are held near 0, those of frequent features more strictly. It
// is done when no weight moves by more than the tolerance.
const (
	ridge     = 0.01
	frequency = 0.5 // the power of a feature's frequency that its ridge grows by
	biasRidge = 0.001
	tolerance = 0.01
)

// weight is one of those to fit, with the examples that it counts in, and how much in each.
type weight struct {
	value, ridge float64
	in           []occurrence
}

type occurrence struct {
	*example
	times float64
}

// fit moves a weight by one step of Newton's method, and returns by how much.
func (w *weight) fit() float64 {
	slope, curve := w.ridge*w.value, w.ridge
	for _, e := range w.in {
		p := 1 / (1 + math.Exp(-e.logit))
		curve += e.weight * e.times * e.times * p * (1 - p)
		if e.yes {
			p--
		}
		slope += e.weight * e.times * p
	}
	step := -slope / curve
	w.value += step
	for _, e := range w.in {
		e.logit += step * e.times
	}
	return math.Abs(step)
}

// learn fits a logistic regression. Its loss has one minimum, which is found whatever the order
// of the examples.
func learn(examples []example) (bias float64, weights [1 << score.Bits]float64) {
	constant := weight{ridge: biasRidge}
	all := make([]weight, len(weights))
	for i := range examples {
		e := &examples[i]
		constant.in = append(constant.in, occurrence{e, 1})
		norm := score.Norm(len(e.features))
		for _, x := range e.features {
			all[x].in = append(all[x].in, occurrence{e, norm})
		}
	}
	for i := range all {
		all[i].ridge = ridge * math.Pow(float64(max(len(all[i].in), 1)), frequency)
	}
	for moved := 1.0; moved > tolerance; {
		moved = constant.fit()
		for i := range all {
			moved = max(moved, all[i].fit())
		}
	}
	for i := range all {
		weights[i] = all[i].value
	}
	return constant.value, weights
}
