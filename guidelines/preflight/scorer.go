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
	nearest      index
	novelty      *novelty
}

// newScorer fits on calls, which are all judged. Equal outcomes within one
// trajectory weigh as much together as the root of their number: an agent that
// tries the same thing over and over tells little more each time.
func newScorer(calls []learned) *scorer {
	s := &scorer{novelty: newNovelty(calls)}
	weights := weigh(calls)
	for v := range views {
		docs := make([][]uint64, len(calls))
		for i := range calls {
			docs[i] = calls[i].features[v]
		}
		s.vocabularies[v] = newVocabulary(docs)
		xs := make([]example, len(calls))
		for i := range calls {
			xs[i] = example{x: s.vocabularies[v].vector(docs[i]), weight: weights[i]}
			xs[i].bad = 1 - calls[i].score
		}
		s.models[v] = fit(xs, len(s.vocabularies[v].rarity))
		if v == byShape {
			s.nearest = newIndex(xs)
		}
	}
	return s
}

func weigh(calls []learned) []float64 {
	type sort struct {
		trajectory string
		failed     bool
	}
	count := map[sort]int{}
	for i := range calls {
		count[sort{calls[i].trajectory, calls[i].failed()}]++
	}
	weights := make([]float64, len(calls))
	var sum float64
	for i := range calls {
		weights[i] = 1
		if t := calls[i].trajectory; t != "" {
			weights[i] = 1 / math.Sqrt(float64(count[sort{t, calls[i].failed()}]))
		}
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(calls)) / sum
	}
	return weights
}

// parts judges an input.
func (s *scorer) parts(in planned) parts {
	var p parts
	for v := range views {
		x := s.vocabularies[v].vector(in.features[v])
		p.regression += s.models[v].of(x) / float64(views)
		if v == byShape {
			p.nearest = s.nearest.odds(x)
		}
	}
	p.novelty = s.novelty.of(in)
	return p
}

// index finds, for a vector, how the calls like it came out.
type index struct {
	postings [][]posting
	bad      []float64
	weight   []float64
	rate     float64
}

type posting struct {
	call   int32
	weight float64
}

func newIndex(xs []example) index {
	n := index{bad: make([]float64, len(xs)), weight: make([]float64, len(xs))}
	var sum float64
	for i, e := range xs {
		n.bad[i], n.weight[i] = e.bad, e.weight
		n.rate += e.bad * e.weight
		sum += e.weight
		for _, x := range e.x {
			for int(x.feature) >= len(n.postings) {
				n.postings = append(n.postings, nil)
			}
			n.postings[x.feature] = append(n.postings[x.feature], posting{int32(i), x.weight}) //nolint:gosec // at most maxCalls
		}
	}
	n.rate = (n.rate + 0.5) / (sum + 1)
	return n
}

// cosines gives the similarity of x to every call.
func (n *index) cosines(x []entry) []float64 {
	out := make([]float64, len(n.bad))
	for _, e := range x {
		if int(e.feature) >= len(n.postings) {
			continue
		}
		for _, p := range n.postings[e.feature] {
			out[p.call] += e.weight * p.weight
		}
	}
	return out
}

// The kernel exp(sharpness·cosine) weighs the calls; inertia is the weight, in
// calls, of the failure rate beside them.
const (
	sharpness = 8
	inertia   = 5
)

// odds are the log odds of failure among the calls like x.
func (n *index) odds(x []entry) float64 {
	bad, all := inertia*n.rate, float64(inertia)
	for i, c := range n.cosines(x) {
		w := n.weight[i] * math.Exp(sharpness*c)
		bad += w * n.bad[i]
		all += w
	}
	return logit(min(max(bad/all, 1e-6), 1-1e-6))
}
