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
	p        float64 // that answer as a probability
}

func (e *example) move(by float64) {
	e.logit += by
	e.p = 1 / (1 + math.Exp(-e.logit))
}

// How the model is fitted. Weights are held near 0, those of frequent features more strictly. It
// is done when no weight moves by more than the tolerance. One that moves by less than a part of
// it rests for some rounds.
const (
	ridge     = 0.01
	frequency = 0.55 // the power of a feature's frequency that its ridge grows by
	biasRidge = 0.001
	tolerance = 0.01
	resting   = tolerance / 10
	rounds    = 5
)

// weight is one of those to fit, with the examples that it counts in, and how much in each.
type weight struct {
	value, ridge float64
	rests        bool
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
		curve += e.weight * e.times * e.times * e.p * (1 - e.p)
		miss := e.p
		if e.yes {
			miss--
		}
		slope += e.weight * e.times * miss
	}
	step := -slope / curve
	w.value += step
	for _, e := range w.in {
		e.move(step * e.times)
	}
	return math.Abs(step)
}

// model is the answer to a question: a bias, and a weight for each feature.
type model struct {
	bias    float64
	weights [1 << score.Bits]float64
}

// learn fits a logistic regression. Its loss has one minimum, which is found whatever the order
// of the examples, and wherever it starts: from near by it takes less time.
func learn(examples []example, from *model) *model {
	m := *from
	constant := weight{value: m.bias, ridge: biasRidge}
	all := make([]weight, len(m.weights))
	for i := range examples {
		e := &examples[i]
		constant.in = append(constant.in, occurrence{e, 1})
		norm, sum := score.Norm(len(e.features)), 0.0
		for _, x := range e.features {
			all[x].in = append(all[x].in, occurrence{e, norm})
			sum += m.weights[x]
		}
		e.logit = 0
		e.move(m.bias + sum*norm)
	}
	for i := range all {
		if n := len(all[i].in); n > 0 {
			all[i].value, all[i].ridge = m.weights[i], ridge*math.Pow(float64(n), frequency)
		}
	}
	for round := 0; ; round++ {
		moved, whole := constant.fit(), round%rounds == 0
		for i := range all {
			if w := &all[i]; len(w.in) > 0 && (whole || !w.rests) {
				step := w.fit()
				moved, w.rests = max(moved, step), step < resting
			}
		}
		if whole && moved <= tolerance {
			break
		}
	}
	m.bias = constant.value
	for i := range all {
		m.weights[i] = all[i].value
	}
	return &m
}
