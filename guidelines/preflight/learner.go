package preflight

import (
	"math"
	"slices"

	"memoryd"
)

// folds is in how many parts the runs of a history are cut for cross-validation:
// consecutive runs stand together, and no run is learned from to predict itself.
const folds = 5

// learner estimates from an input alone how likely it fails, by the mean failure rate of its
// pieces, in which those that are new count as new ones did before. What that counts for is what
// it told of the calls of runs that it had not seen; if that is less than nothing, the failure
// rate stands alone.
type learner struct {
	rates  []float32        // by the number of a piece, its failure rate
	fresh  [aspects]float64 // of pieces that no call had
	score  scaling
	level  float64
	weight float64 // of the score
	base   float64
}

// scaling is the mean and the standard deviation of the score over the history.
type scaling struct{ mean, spread float64 }

// mostSpreads is how many standard deviations a score counts at most, leastSpread below which
// spread differences of the score are small.
const (
	mostSpreads = 3
	leastSpread = 0.1
)

func (s scaling) of(x float64) float64 {
	return min(max((x-s.mean)/s.spread, -mostSpreads), mostSpreads)
}

func scalingOf(points []float64) (s scaling) {
	n := float64(len(points))
	for _, x := range points {
		s.mean += x / n
	}
	for _, x := range points {
		s.spread += square(x-s.mean) / n
	}
	s.spread = max(math.Sqrt(s.spread), leastSpread)
	return s
}

// The weight of the score that is expected of a tool, how many squares of scores
// that expectation counts for (a call adds about 0.4), and below which weight what
// inputs tell is noise.
const (
	startWeight   = 0.5
	weightInertia = 20
	leastWeight   = 0.15
)

// newLearner learns from the judged calls of a history.
func newLearner(h *history, base float64) *learner {
	l := &learner{base: base}
	pieces := h.count()
	l.fresh = h.fresh(pieces, base)
	x := make([]float64, len(h.judged))
	for i, call := range h.judged {
		var mean means
		for _, p := range h.read.of(call) {
			a := h.read.aspect[p]
			mean.add(a, pieces[p].rate(h.fold[i], l.fresh[a]))
		}
		x[i] = mean.sum(base)
	}
	l.score = scalingOf(x)
	for i := range x {
		x[i] = l.score.of(x[i])
	}
	l.fit(h, x)
	l.rates = make([]float32, len(pieces))
	for p := range pieces {
		l.rates[p] = float32(pieces[p].rate(folds, l.fresh[h.read.aspect[p]]))
	}
	return l
}

// fit finds the weight of the score and the level, and brings the level to the
// newest calls: a call counts half as much as one that came so many calls after it.
func (l *learner) fit(h *history, x []float64) {
	l.level, l.weight = logit(l.base), startWeight
	for range 6 {
		inertia := weightInertia / (1 + square((l.weight-startWeight)/startWeight)) // Student's: clear evidence is followed
		l.weight = h.fit(startWeight, inertia, func(i int) (offset, by, weight float64) { return l.level, x[i], 1 })
		if l.weight < leastWeight {
			l.weight = 0
		}
		l.level = h.fit(logit(l.base), 0, func(i int) (offset, by, weight float64) { return l.weight * x[i], 1, 1 })
	}
	half := max(30, float64(len(x))/4)
	l.level += h.fit(0, 2, func(i int) (offset, by, weight float64) {
		return l.level + l.weight*x[i], 1, math.Exp2(-float64(len(x)-1-i) / half)
	})
}

// of estimates the probability that a call with an input fails.
func (l *learner) of(in *planned) float64 {
	var mean means
	for i, a := range in.aspect {
		rate := l.fresh[a]
		if n := in.numbers[i]; n >= 0 {
			rate = float64(l.rates[n])
		}
		mean.add(a, rate)
	}
	return logistic(l.level + l.weight*l.score.of(mean.sum(l.base)))
}

// means adds up failure rates of pieces by aspect.
type means [aspects]struct{ sum, n float64 }

func (m *means) add(a aspect, rate float64) {
	m[a].sum += rate
	m[a].n++
}

// sum is that of the aspects: how far the mean of its pieces is from the rate of all. Of values it
// counts more: one of them may decide.
func (m *means) sum(base float64) (sum float64) {
	for a := range m {
		n := max(1, m[a].n)
		if aspect(a) == given {
			n = math.Sqrt(n)
		}
		sum += (m[a].sum - m[a].n*base) / n
	}
	return sum
}

// outcomes are numbers of runs in which calls that had a piece did not fail, and of those in which
// calls that had it did: in all, and by fold. An agent that tries the same thing over and over
// tells no more than one that tries it once.
type outcomes struct {
	sum  [2]int32
	fold [folds][2]int32
}

// without is the counts of the other folds; there is no fold of the number folds.
func (o *outcomes) without(fold uint8) (good, bad int32) {
	if fold == folds {
		return o.sum[0], o.sum[1]
	}
	return o.sum[0] - o.fold[fold][0], o.sum[1] - o.fold[fold][1]
}

// count counts the runs, for each piece.
func (h *history) count() []outcomes {
	counts := make([]outcomes, len(h.read.keys))
	last := make([][2]int32, len(counts)) // 1 + the run that was counted last, by outcome
	for _, i := range h.byRun() {
		call, run, fold, failed := h.judged[i], h.run[i]+1, h.fold[i], 0
		if h.calls[call].failed() {
			failed = 1
		}
		for _, n := range h.read.of(call) {
			if last[n][failed] != run {
				last[n][failed] = run
				counts[n].sum[failed]++
				counts[n].fold[fold][failed]++
			}
		}
	}
	return counts
}

// byRun lists the places of the judged calls, those of one run together.
func (h *history) byRun() []int32 {
	order := make([]int32, len(h.run))
	for i := range order {
		order[i] = int32(i) //nolint:gosec // at most maxCalls
	}
	slices.SortStableFunc(order, func(a, b int32) int { return int(h.run[a] - h.run[b]) })
	return order
}

// pieceInertia is the weight, in runs, of the rate of new pieces in that of a piece.
const pieceInertia = 4

// rate is the failure rate of a piece outside a fold, shrunk towards that of new ones.
func (o *outcomes) rate(fold uint8, fresh float64) float64 {
	good, bad := o.without(fold)
	return (float64(bad) + pieceInertia*fresh) / (float64(bad+good) + pieceInertia)
}

// fresh is, by aspect, how often calls failed as far as their pieces were new to
// the other folds, shrunk towards the failure rate.
func (h *history) fresh(pieces []outcomes, base float64) (rates [aspects]float64) {
	var met, failed [aspects]float64
	for i, call := range h.judged {
		var isNew means
		for _, p := range h.read.of(call) {
			good, bad := pieces[p].without(h.fold[i])
			share := 0.0
			if good+bad == 0 {
				share = 1
			}
			isNew.add(h.read.aspect[p], share)
		}
		for a := range isNew {
			share := isNew[a].sum / max(1, isNew[a].n)
			met[a] += share
			if h.calls[call].failed() {
				failed[a] += share
			}
		}
	}
	for a := range rates {
		rates[a] = (failed[a] + pieceInertia*base) / (met[a] + pieceInertia)
	}
	return rates
}

// fit finds the number c for which the log odds offset + c·x explain the outcomes
// best, with a ridge of the weight of some calls around a start.
func (h *history) fit(start, inertia float64, of func(i int) (offset, x, weight float64)) float64 {
	c := start
	for range 8 {
		gradient, curve := inertia*(c-start), inertia
		for i, call := range h.judged {
			offset, x, weight := of(i)
			if weight == 0 {
				continue
			}
			p := logistic(offset + c*x)
			gradient += weight * x * p
			curve += weight * x * x * p * (1 - p)
			if h.calls[call].failed() {
				gradient -= weight * x
			}
		}
		c -= min(max(gradient/curve, -1), 1)
	}
	return c
}

// foldRuns numbers the runs of the judged calls and puts them into folds. Where all
// calls are of one run, consecutive calls stand for runs.
func (h *history) foldRuns() {
	numbers := map[string]int32{}
	h.run, h.fold = make([]int32, len(h.judged)), make([]uint8, len(h.judged))
	for i, call := range h.judged {
		name := h.calls[call].run
		n, known := numbers[name]
		if !known || name == "" { // a call that names no run is one of its own
			n = h.runs
			h.runs++
			if name != "" {
				numbers[name] = n
			}
		}
		h.run[i] = n
	}
	if h.runs == 1 {
		h.runs = int32(len(h.judged)) //nolint:gosec // at most maxCalls
		for i := range h.run {
			h.run[i] = int32(i) //nolint:gosec // at most maxCalls
		}
	}
	parts := min(folds, int(h.runs))
	for i, run := range h.run {
		h.fold[i] = uint8(int(run) * parts / int(h.runs)) //nolint:gosec // below folds
	}
}

// failed reports a call that scored 0.
func (l *learned) failed() bool { return l.judged && l.score <= memoryd.ScoreFailure }

func square(x float64) float64 { return x * x }

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
