package main

import (
	"math"

	"memoryd/evaluate/score"
)

// example is the features of a call, whether the answer to a question is yes, and how
// much it counts.
type example struct {
	features []uint16
	yes      bool
	weight   float64
}

// How the model is fitted: so many passes over the examples with AdaGrad's steps.
const (
	passes = 20
	rate   = 0.1
	decay  = 0.0003
)

// learn fits a logistic model. Equal examples in an equal order give equal weights.
func learn(examples []example, w *[1 << score.Bits]float64) (bias float64) {
	var steps [1 << score.Bits]float64
	biasSteps := 0.0
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	random := uint64(1)
	for range passes {
		for i := len(order) - 1; i > 0; i-- {
			random = random*6364136223846793005 + 1442695040888963407
			k := int(random>>33) % (i + 1)
			order[i], order[k] = order[k], order[i]
		}
		for _, i := range order {
			e := &examples[i]
			norm := 1 / math.Sqrt(float64(max(len(e.features), 1)))
			z := bias
			for _, x := range e.features {
				z += w[x] * norm
			}
			miss := 1 / (1 + math.Exp(-z))
			if e.yes {
				miss--
			}
			miss *= e.weight
			for _, x := range e.features {
				g := miss*norm + decay*w[x]
				steps[x] += g * g
				w[x] -= rate * g / (math.Sqrt(steps[x]) + 1e-6)
			}
			biasSteps += miss * miss
			bias -= rate * miss / (math.Sqrt(biasSteps) + 1e-6)
		}
	}
	return bias
}
