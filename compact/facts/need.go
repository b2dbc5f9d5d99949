package facts

import "math"

// need estimates the probability that a later tool call passes the value: a net of
// one hidden layer over the features below. Its weights were fitted on the first
// parts of recorded conversations of several kinds of agents against the arguments
// of their later calls.
func (s *Set) need(f *Fact) float64 {
	x := s.features(f)
	sum := float64(outBias)
	for h := range hiddenUnits {
		u := hiddenBias[h]
		for i := range x {
			u += x[i] * hiddenWeights[i][h]
		}
		sum += max(0, u) * outWeights[h]
	}
	if f.count[FromLedger] > 0 {
		sum++ // an earlier compaction thought it worth its space
	}
	return 1 / (1 + math.Exp(-sum))
}
