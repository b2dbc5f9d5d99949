package preflight

import (
	"math"
	"slices"

	"memoryd/internal/stats"
)

// neighbours finds the calls most like an input by the cosine of their values and words,
// each weighed by its rarity (inverse document frequency). Equal inputs stand in
// it once.
type neighbours struct {
	calls [][]int32  // by input, its calls, oldest first
	with  [][]having // by the number of a piece
	rare  []float64  // by how many inputs have a piece, what that counts for
}

// having is an input with a piece, and what that counts for in it.
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
	// leastShared is in how many inputs a piece must occur.
	leastShared = 2
	// shownSimilar is how many calls of each kind are shown, mostNear how many are
	// looked at.
	shownSimilar = 3
	mostNear     = 200
)

func newNeighbours(h *history) *neighbours {
	n := &neighbours{}
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
	n.rare = make([]float64, len(n.calls)+1)
	for inputs := range n.rare {
		n.rare[inputs] = n.rarity(inputs)
	}
	count := make([]int, len(h.read.keys))
	for _, call := range first {
		for _, f := range h.read.of(call) {
			if h.read.aspect[f] >= given {
				count[f]++
			}
		}
	}
	n.with = make([][]having, len(count))
	for f, inputs := range count {
		if n.rare[inputs] > 0 {
			n.with[f] = make([]having, 0, inputs)
		}
	}
	for at, call := range first {
		length := 0.0
		for _, f := range h.read.of(call) {
			length += square(n.rare[count[f]])
		}
		for _, f := range h.read.of(call) {
			if rarity := n.rare[count[f]]; rarity > 0 {
				n.with[f] = append(n.with[f], having{int32(at), float32(rarity / math.Sqrt(length))}) //nolint:gosec // at most maxCalls
			}
		}
	}
	return n
}

// rarity is what a piece of so many inputs counts for: nothing where it is of one or of
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
	for _, f := range p.numbers {
		if f < 0 {
			continue
		}
		inputs := n.with[f]
		rarity := n.rare[len(inputs)]
		length += square(rarity)
		for _, has := range inputs {
			cosine[has.input] += rarity * float64(has.weight)
		}
	}
	length = math.Sqrt(length)
	var order []uint64 // the likeness of an input, and its place
	for at, c := range cosine {
		if s := float32(min(1, c/length)); s > 0.05 {
			order = append(order, uint64(math.Float32bits(s))<<32|uint64(at)) //nolint:gosec // at most maxCalls
		}
	}
	slices.Sort(order)
	near := make([]neighbour, 0, mostNear)
	for _, o := range slices.Backward(order) {
		at := uint32(o) //nolint:gosec // the lower half
		for _, call := range slices.Backward(n.calls[at]) {
			if len(near) == mostNear {
				return near
			}
			near = append(near, neighbour{int(call), min(1, cosine[at]/length)})
		}
	}
	return near
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
		out = append(out, Similar{Call: c.key, Similarity: n.similarity, Score: c.score, Input: c.input, Summary: c.summary})
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
		return m.time
	}
	median := stats.Median(times)
	return &median
}
