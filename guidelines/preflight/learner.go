package preflight

import (
	"math"

	"memoryd"
)

// learner estimates from an input alone how likely it fails, by the mean failure rate of its
// pieces, in which those that no call had count as new ones did before. What that counts for is
// what it told of the calls of the history before it learned from them; if that is less than
// nothing, the failure rate stands alone.
type learner struct {
	base   float64
	pieces []piece // by their number
	// fresh counts, by aspect, calls and failures as far as their pieces were new.
	fresh [aspects]struct{ calls, failed float64 }
	// The mean and the standard deviation of the score, and its weight.
	mean, spread, weight float64
}

// piece counts the runs in which calls that had a piece did not fail, and those in which calls that
// had it did. An agent that tries the same thing over and over tells no more than one that tries
// it once.
type piece struct {
	runs  [2]int32
	last  [2]int32 // the run that was counted last, by outcome
	first int32    // the run that had it first; 0 for none
}

// pieceInertia is the weight, in runs, of the rate of new pieces in that of a piece, and of the
// failure rate of all in that of new ones.
const pieceInertia = 4

const (
	// warmUp is the share of the history, its beginning, that tells nothing of the score: there
	// nearly all is new.
	warmUp = 0.3
	// leastSpread is the standard deviation below which differences of the score are small.
	leastSpread = 0.1
	// The weight of the score that is expected of a tool, how many squares of scores that
	// expectation counts for (a call adds about 0.2), and below which weight what inputs tell is noise.
	startWeight   = 0.8
	weightInertia = 5
	leastWeight   = 0.15
)

// newLearner learns from the judged calls of a history, one after the other.
func newLearner(h *history, base float64) *learner {
	l := &learner{base: base, pieces: make([]piece, len(h.read.keys))}
	runs := h.runs()
	scores := make([]float64, len(h.judged))
	for i, call := range h.judged {
		var rates means
		for _, n := range h.read.of(call) {
			a := h.read.aspect[n]
			rates.add(a, l.rate(n, a))
		}
		scores[i] = rates.sum(base)
		l.learn(h, call, runs[i])
	}
	from := int(warmUp * float64(len(scores)))
	l.fit(h, scores[from:], h.judged[from:])
	return l
}

// learn takes the outcome of a call in.
func (l *learner) learn(h *history, call, run int32) {
	failed := 0
	if h.calls[call].failed() {
		failed = 1
	}
	var isNew means
	for _, n := range h.read.of(call) {
		p, share := &l.pieces[n], 0.0
		if p.first == 0 {
			p.first = run
		}
		if p.first == run {
			share = 1
		}
		isNew.add(h.read.aspect[n], share)
		if p.last[failed] != run {
			p.last[failed] = run
			p.runs[failed]++
		}
	}
	for a := range isNew {
		share := isNew[a].sum / max(1, isNew[a].n)
		l.fresh[a].calls += share
		l.fresh[a].failed += share * float64(failed)
	}
}

// rate is the failure rate of a piece, shrunk towards that of new ones. n is below 0 for one that
// no call had.
func (l *learner) rate(n int32, a aspect) float64 {
	fresh := (l.fresh[a].failed + pieceInertia*l.base) / (l.fresh[a].calls + pieceInertia)
	if n < 0 {
		return fresh
	}
	good, failed := float64(l.pieces[n].runs[0]), float64(l.pieces[n].runs[1])
	return (failed + pieceInertia*fresh) / (good + failed + pieceInertia)
}

// fit finds what scores count for: the weight with which they explain the outcomes of the calls
// best, with a ridge around the one that is expected.
func (l *learner) fit(h *history, scores []float64, calls []int32) {
	n := float64(len(scores))
	for _, x := range scores {
		l.mean += x / n
	}
	for _, x := range scores {
		l.spread += square(x-l.mean) / n
	}
	l.spread = max(math.Sqrt(l.spread), leastSpread)
	l.weight = startWeight
	for range 10 {
		gradient, curve := weightInertia*(l.weight-startWeight), float64(weightInertia)
		for i, call := range calls {
			x := l.scaled(scores[i])
			p := logistic(logit(l.base) + l.weight*x)
			gradient += x * p
			curve += x * x * p * (1 - p)
			if h.calls[call].failed() {
				gradient -= x
			}
		}
		l.weight -= min(max(gradient/curve, -1), 1)
	}
	if l.weight < leastWeight {
		l.weight = 0
	}
}

func (l *learner) scaled(x float64) float64 { return (x - l.mean) / l.spread }

// of estimates the probability that a call with an input fails.
func (l *learner) of(in *planned) float64 {
	var rates means
	for i, a := range in.aspect {
		rates.add(a, l.rate(in.numbers[i], a))
	}
	return logistic(logit(l.base) + l.weight*l.scaled(rates.sum(l.base)))
}

// means adds up failure rates of pieces by aspect.
type means [aspects]struct{ sum, n float64 }

func (m *means) add(a aspect, rate float64) {
	m[a].sum += rate
	m[a].n++
}

// sum is that of the aspects: how far the mean of its pieces is from the rate of all.
func (m *means) sum(base float64) (sum float64) {
	for a := range m {
		sum += (m[a].sum - m[a].n*base) / max(1, m[a].n)
	}
	return sum
}

// runs numbers the runs of the judged calls, from 1. Where all are of one run, each is one of its
// own.
func (h *history) runs() []int32 {
	numbers, runs := map[uint64]int32{}, make([]int32, len(h.judged))
	for i, call := range h.judged {
		id := h.calls[call].run
		if numbers[id] == 0 {
			numbers[id] = int32(i) + 1 //nolint:gosec // at most maxCalls
		}
		runs[i] = numbers[id]
	}
	if len(numbers) == 1 {
		for i := range runs {
			runs[i] = int32(i) + 1 //nolint:gosec // at most maxCalls
		}
	}
	return runs
}

// failed reports a call that scored 0.
func (l *learned) failed() bool { return l.judged && l.score <= memoryd.ScoreFailure }

func square(x float64) float64 { return x * x }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
