package preflight

import (
	"cmp"
	"math"
	"slices"

	"memoryd/internal/stats"
)

// neighbours finds the calls most like an input by the cosine of their features,
// each weighed by its rarity (inverse document frequency). Equal inputs stand in
// it once.
type neighbours struct {
	calls [][]int32           // by input, its calls, oldest first
	with  map[uint64][]having // by feature
}

// having is an input with a feature, and what that counts for in it.
type having struct {
	input  int32
	weight float32
}

// neighbour is a place in the history and how like it is.
type neighbour struct {
	call       int
	similarity float64
}

const (
	// likeness is from which similarity on a call counts as like another.
	likeness = 0.5
	// leastShared is in how many inputs a feature must occur.
	leastShared = 2
	// shownSimilar is how many calls of each kind are shown, mostNear how many are
	// looked at.
	shownSimilar = 3
	mostNear     = 200
)

func newNeighbours(h *history) *neighbours {
	n := &neighbours{with: map[uint64][]having{}}
	place := map[uint64]int{} // by identity
	var first []int32         // by input, its first call
	for i := range h.calls {
		at, known := place[h.calls[i].identity]
		if !known {
			at = len(first)
			place[h.calls[i].identity] = at
			first = append(first, int32(i)) //nolint:gosec // at most maxCalls
			n.calls = append(n.calls, nil)
		}
		n.calls[at] = append(n.calls[at], int32(i)) //nolint:gosec // at most maxCalls
	}
	features := &h.read.features
	count := make([]int, len(features.keys))
	for _, call := range first {
		for _, f := range features.of(call) {
			count[f]++
		}
	}
	for f, key := range features.keys {
		if n.rarity(count[f]) > 0 {
			n.with[key] = make([]having, 0, count[f])
		}
	}
	for at, call := range first {
		length := 0.0
		for _, f := range features.of(call) {
			length += square(n.rarity(count[f]))
		}
		for _, f := range features.of(call) {
			if rarity := n.rarity(count[f]); rarity > 0 {
				key := features.keys[f]
				n.with[key] = append(n.with[key], having{int32(at), float32(rarity / math.Sqrt(length))}) //nolint:gosec // at most maxCalls
			}
		}
	}
	return n
}

// rarity is what a feature of so many inputs counts for: nothing where it is of one or of
// all.
func (n *neighbours) rarity(inputs int) float64 {
	all := len(n.calls)
	if all > 1 && (inputs < leastShared || inputs == all) {
		return 0
	}
	return math.Log(float64(1+all)/float64(1+inputs)) + 1e-3
}

// of lists the calls like an input, nearest first, newer calls first among equals.
func (n *neighbours) of(p *planned) []neighbour {
	cosine := make([]float64, len(n.calls))
	length := 0.0
	for _, f := range p.features {
		inputs := n.with[f]
		if len(inputs) == 0 {
			continue
		}
		rarity := n.rarity(len(inputs))
		length += square(rarity)
		for _, has := range inputs {
			cosine[has.input] += rarity * float64(has.weight)
		}
	}
	var near []neighbour
	for at, c := range cosine {
		if s := c / math.Sqrt(length); s > 0.05 {
			near = slices.Grow(near, len(n.calls[at]))
			for _, call := range n.calls[at] {
				near = append(near, neighbour{int(call), min(1, s)})
			}
		}
	}
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), b.call-a.call)
	})
	return near[:min(len(near), mostNear)]
}

// similar shows the nearest calls that want holds for, one for each input.
func (m *Model) similar(near []neighbour, want func(*learned) bool) []Similar {
	var out []Similar
	var shown []uint64
	for _, n := range near {
		c := &m.calls[n.call]
		if !want(c) || slices.Contains(shown, c.identity) {
			continue
		}
		shown = append(shown, c.identity)
		out = append(out, Similar{Call: c.key, Seq: c.seq, Similarity: n.similarity, Score: c.score, Input: c.input, Summary: c.summary})
		if len(out) == shownSimilar {
			break
		}
	}
	return out
}

// expectedTime is the median time of like calls where at least three know it,
// else of all.
func (m *Model) expectedTime(near []neighbour) *float64 {
	var times []float64
	for _, n := range near {
		if t := m.calls[n.call].seconds; n.similarity >= likeness && t > 0 && len(times) < 25 {
			times = append(times, t)
		}
	}
	if len(times) < 3 {
		times = m.times
	}
	if len(times) == 0 {
		return nil
	}
	median := stats.Median(times)
	return &median
}
