package preflight

import "math"

// entry is a feature's number in a vocabulary and its weight in a vector.
type entry struct {
	feature int32
	weight  float64
}

// vocabulary numbers the features that at least two calls have, but not all, and
// weighs them by their rarity (inverse document frequency).
type vocabulary struct {
	number map[uint64]int32
	rarity []float64
}

// leastCalls is in how many calls a feature must occur.
const leastCalls = 2

func newVocabulary(docs [][]uint64) *vocabulary {
	count := map[uint64]int{}
	for _, d := range docs {
		for _, f := range d {
			count[f]++
		}
	}
	v := &vocabulary{number: map[uint64]int32{}}
	for _, d := range docs { // in the order of the calls, so that numbers are repeatable
		for _, f := range d {
			if _, known := v.number[f]; known || count[f] < leastCalls || count[f] == len(docs) {
				continue
			}
			v.number[f] = int32(len(v.rarity)) //nolint:gosec // bounded by calls times features of one
			v.rarity = append(v.rarity, math.Log(float64(1+len(docs))/float64(1+count[f])))
		}
	}
	return v
}

// vector is the weighted features of one input that are known, of length 1.
func (v *vocabulary) vector(features []uint64) []entry {
	var out []entry
	var sum float64
	for _, f := range features {
		if n, ok := v.number[f]; ok {
			w := v.rarity[n]
			out = append(out, entry{n, w})
			sum += w * w
		}
	}
	if sum > 0 {
		norm := 1 / math.Sqrt(sum)
		for i := range out {
			out[i].weight *= norm
		}
	}
	return out
}

func dot(x []entry, w []float64) float64 {
	var sum float64
	for _, e := range x {
		sum += e.weight * w[e.feature]
	}
	return sum
}
