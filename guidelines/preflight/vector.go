package preflight

import "math"

// vocabulary numbers the features that at least two calls have, but not all, and
// weighs them by their rarity (inverse document frequency).
type vocabulary struct {
	// place is by feature 1 + its number here, 0 for none; while it is learned.
	place  []int32
	rarity []float64
	// entries is how often all of them stand in the calls.
	entries int
	// number is the same by hash, for what comes later; see keep.
	number map[uint64]int32
}

// leastCalls is in how many calls a feature must occur.
const leastCalls = 2

// newVocabulary is that of the given calls; there are so many features in all.
func newVocabulary(docs *bags, calls []int32, features int) *vocabulary {
	count := make([]int32, features)
	for _, call := range calls {
		for _, f := range docs.of(int(call)) {
			count[f]++
		}
	}
	rarity := make([]float64, len(calls)) // by count, 0 as long as it is not known
	v := &vocabulary{place: make([]int32, features)}
	for _, call := range calls { // in the order of the calls, so that numbers are repeatable
		for _, f := range docs.of(int(call)) {
			n := int(count[f])
			if v.place[f] > 0 {
				v.entries++
				continue
			}
			if n < leastCalls || n == len(calls) {
				continue
			}
			if rarity[n] == 0 {
				rarity[n] = math.Log(float64(1+len(calls)) / float64(1+n))
			}
			v.rarity = append(v.rarity, rarity[n])
			v.entries++
			v.place[f] = int32(len(v.rarity)) //nolint:gosec // bounded by calls times features of one
		}
	}
	return v
}

// keep makes the vocabulary ready for features by their hash, keys, and drops what
// was needed to learn only.
func (v *vocabulary) keep(keys []uint64) {
	v.number = make(map[uint64]int32, len(v.rarity))
	for f, n := range v.place {
		if n > 0 {
			v.number[keys[f]] = n - 1
		}
	}
	v.place = nil
}

// vector is a sparse vector: numbers of a vocabulary with their weights.
type vector struct {
	features []int32
	weights  []float64
}

// learned appends the weighted features of a call that are known, of length 1.
func (v *vocabulary) learned(x vector, features []int32) vector {
	from := len(x.features)
	for _, f := range features {
		if n := v.place[f]; n > 0 {
			x.features, x.weights = append(x.features, n-1), append(x.weights, v.rarity[n-1])
		}
	}
	unit(x.weights[from:])
	return x
}

// vector is the same for an input by the hashes of its features.
func (v *vocabulary) vector(features []uint64) (x vector) {
	for _, f := range features {
		if n, ok := v.number[f]; ok {
			x.features, x.weights = append(x.features, n), append(x.weights, v.rarity[n])
		}
	}
	unit(x.weights)
	return x
}

// unit brings weights to length 1.
func unit(weights []float64) {
	var sum float64
	for _, w := range weights {
		sum += w * w
	}
	if sum > 0 {
		norm := 1 / math.Sqrt(sum)
		for i := range weights {
			weights[i] *= norm
		}
	}
}

func (x vector) dot(w []float64) float64 {
	var sum float64
	for i, f := range x.features {
		sum += x.weights[i] * w[f]
	}
	return sum
}
