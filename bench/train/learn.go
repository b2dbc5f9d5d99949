package main

import (
	"math"

	"memoryd/evaluate/score"
)

// example is the features of a call, whether the answer to a question is yes, and how
// much it counts.
type example struct {
	features []uint32
	meaning  *vector // the sum over its words
	yes      bool
	weight   float64
}

// How the model is fitted: so many passes over the examples with AdaGrad's steps.
const (
	passes = 20
	rate   = 0.1
	decay  = 0.0005
)

// model is what is learned for one question: a weight for each feature, and one for
// each axis of meaning, by which words that no example holds get theirs.
type model struct {
	bias    float64
	weights [1 << score.Bits]float64
	axes    vector
}

// fold gives the weights with those of all words that have a meaning.
func (m *model) fold(words *meanings, out *[1 << score.Bits]float64) {
	*out = m.weights
	for feature, v := range words.of {
		out[feature] += m.axes.dot(v)
	}
}

// learn fits a logistic model. Equal examples in an equal order give equal weights.
func learn(examples []example) *model {
	m := &model{}
	var steps [1 << score.Bits]float64
	var axisSteps vector
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
			z := m.axes.dot(e.meaning)
			for _, x := range e.features {
				z += m.weights[x]
			}
			miss := 1 / (1 + math.Exp(-m.bias-z*norm))
			if e.yes {
				miss--
			}
			miss *= e.weight
			for _, x := range e.features {
				g := miss*norm + decay*m.weights[x]
				steps[x] += g * g
				m.weights[x] -= rate * g / (math.Sqrt(steps[x]) + 1e-6)
			}
			for k := range m.axes {
				g := miss*norm*float64(e.meaning[k]) + axisDecay*float64(m.axes[k])
				axisSteps[k] += float32(g * g)
				m.axes[k] -= float32(axisRate * g / (math.Sqrt(float64(axisSteps[k])) + 1e-6))
			}
			biasSteps += miss * miss
			m.bias -= rate * miss / (math.Sqrt(biasSteps) + 1e-6)
		}
	}
	return m
}
