package preflight

import (
	"math"
)

// parts are what speaks for a failure of one input, each on a scale of its own.
type parts struct {
	regression float64 // mean log odds of the views
	nearest    float64 // log odds among the nearest calls
	novelty    float64 // share of it that no successful call had
}

// scorer tells failing inputs from others. It is fitted on judged calls.
type scorer struct {
	vocabularies [views]*vocabulary
	models       [views]regression
	nearest      outcomes
	good         [aspects]map[uint64]bool // the pieces of successful calls
}

// learner is a scorer on the first judged calls of the history that it is fitted
// on.
type learner struct {
	scorer
	history *history
	first   int
	fresh   *novelty
	x       vector          // room for one call
	near    []float64       // room for its similarities
	known   map[int32]parts // of the first of equal calls
}

// newLearner fits on the first judged calls. Equal outcomes within one trajectory
// weigh as much together as the root of their number: an agent that tries the same
// thing over and over tells little more each time.
func newLearner(h *history, first int, fresh *novelty) *learner {
	l := &learner{history: h, first: first, fresh: fresh, known: map[int32]parts{}}
	calls := h.judged[:first]
	weight := h.weigh(calls)
	bad := make([]float64, len(calls))
	for i, call := range calls {
		bad[i] = 1 - h.calls[call].score
	}
	for v := range views {
		docs := &h.read.features[v]
		l.vocabularies[v] = newVocabulary(docs, calls, len(h.read.known.keys))
		size := len(l.vocabularies[v].rarity)
		xs := examples{matrix: h.matrixOf(l.vocabularies[v], docs, calls), bad: bad, weight: weight}
		l.models[v] = fit(xs, size)
		if v == byShape {
			l.nearest = newOutcomes(xs, size)
		}
	}
	return l
}

// kept is the scorer for inputs that are not in the history.
func (l *learner) kept() *scorer {
	s := &l.scorer
	for _, v := range s.vocabularies {
		v.keep(l.history.read.known.keys)
	}
	s.good = l.fresh.kept(l.history)
	return s
}

func (h *history) weigh(calls []int32) []float64 {
	type sort struct {
		trajectory string
		failed     bool
	}
	count := map[sort]int{}
	for _, call := range calls {
		c := &h.calls[call]
		count[sort{c.trajectory, c.failed()}]++
	}
	weights := make([]float64, len(calls))
	var sum float64
	for i, call := range calls {
		weights[i] = 1
		if c := &h.calls[call]; c.trajectory != "" {
			weights[i] = 1 / math.Sqrt(float64(count[sort{c.trajectory, c.failed()}]))
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(calls)) / sum
	}
	return weights
}

// parts judges a call of the history, equal calls once.
func (l *learner) parts(call int32) parts {
	first := l.history.first[call]
	p, known := l.known[first]
	if !known {
		p = l.judge(call)
		l.known[first] = p
	}
	return p
}

func (l *learner) judge(call int32) parts {
	var p parts
	for v := range views {
		l.x.features, l.x.weights = l.x.features[:0], l.x.weights[:0]
		l.x = l.vocabularies[v].learned(l.x, l.history.read.features[v].of(int(call)))
		p.regression += l.models[v].of(l.x) / float64(views)
		if v == byShape {
			l.near = l.nearest.cosines(l.x, l.near)
			p.nearest = l.nearest.odds(l.near)
		}
	}
	p.novelty = l.fresh.of(l.history, call, l.first)
	return p
}

// parts judges an input.
func (s *scorer) parts(in planned) parts {
	var p parts
	for v := range views {
		x := s.vocabularies[v].vector(in.features[v])
		p.regression += s.models[v].of(x) / float64(views)
		if v == byShape {
			p.nearest = s.nearest.odds(s.nearest.cosines(x, nil))
		}
	}
	for a := range aspects {
		fresh := 0
		for _, piece := range in.pieces[a] {
			if !s.good[a][piece] {
				fresh++
			}
		}
		p.novelty += share(fresh, len(in.pieces[a]))
	}
	return p
}
