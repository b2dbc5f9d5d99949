package preflight

import (
	"slices"

	"memoryd/internal/stats"
)

// neighbours finds the calls most like an input, by all that its words and form
// say, whether judged or not.
type neighbours struct {
	vocabulary *vocabulary
	index      index
}

// neighbour is a place in the history and how like it is.
type neighbour struct {
	call       int
	similarity float64
}

// likeness is from which similarity on a call counts as like another.
const likeness = 0.5

// shownSimilar is how many calls of each kind are shown.
const shownSimilar = 3

func newNeighbours(h *history) *neighbours {
	all := make([]int32, len(h.calls))
	for i := range all {
		all[i] = int32(i) //nolint:gosec // at most maxCalls
	}
	docs := &h.read.features[byWord]
	n := &neighbours{vocabulary: newVocabulary(docs, all, len(h.read.known.keys))}
	m := h.matrixOf(n.vocabulary, docs, all)
	n.index = index{len(all), m.transposed(len(n.vocabulary.rarity))}
	n.vocabulary.keep(h.read.known.keys)
	return n
}

// of lists the calls like an input, nearest first.
func (n *neighbours) of(p planned) []neighbour {
	var near []neighbour
	for i, s := range n.index.cosines(n.vocabulary.vector(p.features[byWord]), nil) {
		if s > 0.05 {
			near = append(near, neighbour{i, min(1, s)})
		}
	}
	nearestFirst(near)
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
		out = append(out, Similar{Call: c.key, Seq: c.seq, Similarity: n.similarity, Score: c.score})
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

// nearestFirst sorts neighbours by similarity, newer calls first among equals.
func nearestFirst(ns []neighbour) {
	slices.SortFunc(ns, func(a, b neighbour) int {
		switch {
		case a.similarity > b.similarity:
			return -1
		case a.similarity < b.similarity:
			return 1
		}
		return b.call - a.call
	})
}
