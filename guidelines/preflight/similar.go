package preflight

import (
	"math"
	"slices"

	"memoryd/internal/stats"
)

// neighbours finds the calls most like an input by the cosine of their features,
// each weighed by its rarity (inverse document frequency). Equal inputs stand in
// it once.
type neighbours struct {
	number map[uint64]int32 // of a feature, by what it is a hash of
	rarity []float64
	from   []int32 // by feature, where its entries begin; one more for the end
	in     []int32 // the inputs that have it
	with   []float32
	calls  [][]int32 // by input, its calls, oldest first
}

// neighbour is a place in the history and how like it is.
type neighbour struct {
	call       int
	similarity float64
}

const (
	// likeness is from which similarity on a call counts as like another.
	likeness = 0.5
	// leastAlike is from which on the nearest calls explain a high risk.
	leastAlike = 0.2
	// leastShared is in how many inputs a feature must occur.
	leastShared = 2
	// shownSimilar is how many calls of each kind are shown, mostNear how many are
	// looked at.
	shownSimilar = 3
	mostNear     = 200
)

func newNeighbours(h *history) *neighbours {
	n := &neighbours{number: map[uint64]int32{}}
	place := map[uint64]int32{} // by identity
	var first []int32           // by input, its first call
	for i := range h.calls {
		at, known := place[h.calls[i].identity]
		if !known {
			at = int32(len(first)) //nolint:gosec // at most maxCalls
			place[h.calls[i].identity] = at
			first = append(first, int32(i)) //nolint:gosec // at most maxCalls
			n.calls = append(n.calls, nil)
		}
		n.calls[at] = append(n.calls[at], int32(i)) //nolint:gosec // at most maxCalls
	}
	n.index(h, first)
	return n
}

// index makes the entries of the inputs, given the first call of each.
func (n *neighbours) index(h *history, first []int32) {
	count := make([]int32, len(h.read.features.keys))
	for _, call := range first {
		for _, f := range h.read.features.of(call) {
			count[f]++
		}
	}
	numbers := make([]int32, len(count))
	n.from = []int32{0}
	for f, c := range count {
		numbers[f] = -1
		if c >= leastShared && int(c) < len(first) || len(first) == 1 {
			numbers[f] = int32(len(n.rarity)) //nolint:gosec // bounded by features
			n.number[h.read.features.keys[f]] = numbers[f]
			n.rarity = append(n.rarity, math.Log(float64(1+len(first))/float64(1+c))+1e-3)
			n.from = append(n.from, n.from[len(n.from)-1]+c)
		}
	}
	end := n.from[len(n.from)-1]
	n.in, n.with = make([]int32, end), make([]float32, end)
	next := slices.Clone(n.from)
	for at, call := range first {
		length := 0.0
		for _, f := range h.read.features.of(call) {
			if k := numbers[f]; k >= 0 {
				length += square(n.rarity[k])
			}
		}
		for _, f := range h.read.features.of(call) {
			if k := numbers[f]; k >= 0 {
				n.in[next[k]], n.with[next[k]] = int32(at), float32(n.rarity[k]/math.Sqrt(length)) //nolint:gosec // at most maxCalls
				next[k]++
			}
		}
	}
}

// of lists the calls like an input, nearest first, newer calls first among equals.
func (n *neighbours) of(p *planned) []neighbour {
	cosine := make([]float64, len(n.calls))
	length := 0.0
	for _, f := range p.features {
		k, known := n.number[f]
		if !known {
			continue
		}
		length += square(n.rarity[k])
		for e := n.from[k]; e < n.from[k+1]; e++ {
			cosine[n.in[e]] += n.rarity[k] * float64(n.with[e])
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
		switch {
		case a.similarity > b.similarity:
			return -1
		case a.similarity < b.similarity:
			return 1
		}
		return b.call - a.call
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
