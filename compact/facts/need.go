package facts

import "math"

// need estimates the probability that a later tool call passes the value: a net of
// one hidden layer over the features below. Its weights were fitted on the first
// parts of recorded conversations of several kinds of agents against the arguments
// of their later calls.
func (s *Set) need(f *Fact) float64 {
	units := hiddenBias
	for i, x := range s.features(f) {
		if x == 0 {
			continue
		}
		for h, w := range &hiddenWeights[i] {
			units[h] += x * w
		}
	}
	sum := float64(outBias)
	for h, u := range units {
		sum += max(0, u) * outWeights[h]
	}
	if f.count[FromLedger] > 0 {
		sum++ // an earlier compaction thought it worth its space
	}
	return 1 / (1 + math.Exp(-sum))
}
