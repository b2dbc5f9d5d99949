package preflight

import (
	"math"
	"slices"

	"memoryd"
)

// folds is in how many parts the runs of a history are cut for cross-validation:
// consecutive runs stand together, and no run is learned from to predict itself.
const folds = 5

// learner estimates from an input alone how likely it fails. It puts two scores
// together: naive Bayes over the input's features, and the mean failure rate of its
// pieces, in which those that are new count as new ones did before. What they count
// for is what they told of the calls of runs that they had not seen; if that is less
// than nothing, the failure rate stands alone.
type learner struct {
	ratios  []float32          // by the number of a feature, its log likelihood ratio of failure
	rates   map[uint64]float32 // by piece, its failure rate
	fresh   [aspects]float64   // of pieces that no call had
	scaling [scores]scaling
	level   float64
	weight  float64 // of each score
	base    float64
}

const scores = 2

// scaling is the mean and the standard deviation of a score over the history.
type scaling struct{ mean, spread float64 }

// mostSpreads is how many standard deviations a score counts at most.
const mostSpreads = 3

func (s scaling) of(x float64) float64 {
	return min(max((x-s.mean)/s.spread, -mostSpreads), mostSpreads)
}

// leastSpreads are below which spread differences of a score are small: in log odds,
// and in failure rates.
var leastSpreads = [scores]float64{0.5, 0.1}

func scalingOf(points [][scores]float64, score int) (s scaling) {
	n := float64(len(points))
	for i := range points {
		s.mean += points[i][score] / n
	}
	for i := range points {
		s.spread += square(points[i][score]-s.mean) / n
	}
	s.spread = max(math.Sqrt(s.spread), leastSpreads[score])
	return s
}

// The weight of the scores that is expected of a tool, how many squares of scores
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
	features, pieces := h.count(&h.read.features), h.count(&h.read.pieces)
	fresh := h.fresh(pieces, l.base)
	points := make([][scores]float64, len(h.judged))
	for i, call := range h.judged {
		fold := h.fold[i]
		sum := 0.0
		bag := h.read.features.of(call)
		for _, f := range bag {
			sum += features.ratio(f, fold)
		}
		var mean means
		for _, p := range h.read.pieces.of(call) {
			a := h.read.aspect[p]
			mean.add(a, pieces.rate(p, fold, fresh[a]))
		}
		points[i] = [scores]float64{sum / norm(len(bag)), mean.sum()}
	}
	x := make([]float64, len(points))
	for s := range scores {
		l.scaling[s] = scalingOf(points, s)
		for i := range points {
			x[i] += l.scaling[s].of(points[i][s])
		}
	}
	l.fit(h, x)
	l.keep(h, features, pieces, fresh)
	return l
}

// fit finds the weight of the scores and the level, and brings the level to the
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

// keep keeps what forecasts need of the counts.
func (l *learner) keep(h *history, features, pieces *runCounts, fresh [aspects]float64) {
	l.fresh = fresh
	l.ratios = make([]float32, len(features.counts))
	for f := range l.ratios {
		l.ratios[f] = float32(features.ratio(int32(f), folds)) //nolint:gosec // bounded by calls times features of one
	}
	l.rates = make(map[uint64]float32, len(pieces.counts))
	for p, key := range h.read.pieces.keys {
		l.rates[key] = float32(pieces.rate(int32(p), folds, fresh[h.read.aspect[p]])) //nolint:gosec // bounded by calls times pieces of one
	}
}

// of estimates the probability that a call with an input fails.
func (l *learner) of(in *planned) float64 {
	var sum float64
	for _, f := range in.known {
		sum += float64(l.ratios[f])
	}
	var mean means
	for i, p := range in.pieces {
		a := in.aspect[i]
		rate, known := l.rates[p]
		if !known {
			rate = float32(l.fresh[a])
		}
		mean.add(a, float64(rate))
	}
	return logistic(l.level + l.weight*(l.scaling[0].of(sum/norm(len(in.features)))+l.scaling[1].of(mean.sum())))
}

// norm brings the sums of inputs with many features and with few to one scale:
// features of one text go together.
func norm(features int) float64 { return math.Sqrt(float64(1 + features)) }

// means adds up failure rates of pieces by aspect.
type means [aspects]struct{ sum, n float64 }

func (m *means) add(a aspect, rate float64) {
	m[a].sum += rate
	m[a].n++
}

// sum is that of the means of the aspects.
func (m *means) sum() (sum float64) {
	for a := range m {
		sum += m[a].sum / max(1, m[a].n)
	}
	return sum
}

// runCounts counts, for each feature or piece, the runs in which calls that had it
// failed, and those in which calls that had it did not: in all, and by fold. An
// agent that tries the same thing over and over tells no more than one that tries
// it once.
type runCounts struct {
	counts []outcomes
	all    outcomes
	ratios [folds + 1][fewRuns + 1][fewRuns + 1]float64 // known ones by fold, good and bad runs
}

// fewRuns is below which numbers of runs ratios are remembered: most are.
const fewRuns = 16

// outcomes are numbers of runs with calls that did not fail, and with calls that did.
type outcomes struct {
	sum  [2]int32
	fold [folds][2]int32
}

func (o *outcomes) add(failed int, fold uint8) {
	o.sum[failed]++
	o.fold[fold][failed]++
}

// without is the counts of the other folds; there is no fold of the number folds.
func (o *outcomes) without(fold uint8) (good, bad int32) {
	if fold == folds {
		return o.sum[0], o.sum[1]
	}
	return o.sum[0] - o.fold[fold][0], o.sum[1] - o.fold[fold][1]
}

func (h *history) count(b *bags) *runCounts {
	t := &runCounts{counts: make([]outcomes, len(b.keys))}
	last := make([][2]int32, len(b.keys)) // 1 + the run that was counted last, by outcome
	var before [2]int32
	for _, i := range h.byRun() {
		call, run, fold, failed := h.judged[i], h.run[i]+1, h.fold[i], 0
		if h.calls[call].failed() {
			failed = 1
		}
		if before[failed] != run {
			before[failed] = run
			t.all.add(failed, fold)
		}
		for _, n := range b.of(call) {
			if last[n][failed] != run {
				last[n][failed] = run
				t.counts[n].add(failed, fold)
			}
		}
	}
	return t
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

// The weights, in runs, of the frequency over all in that of a feature, and of the
// rate of new pieces in that of a piece.
const (
	featureInertia = 2
	pieceInertia   = 4
)

// ratio is the logarithm of how much more frequent a feature is among failures
// than among other calls, outside a fold. Each side is shrunk towards the frequency
// over all, so that a feature that was never seen says nothing.
func (t *runCounts) ratio(f int32, fold uint8) float64 {
	good, bad := t.counts[f].without(fold)
	if good+bad == 0 {
		return 0
	}
	known := &t.ratios[fold][min(good, fewRuns)][min(bad, fewRuns)]
	if good < fewRuns && bad < fewRuns && *known != 0 {
		return *known
	}
	allGood, allBad := t.all.without(fold)
	share := featureInertia * float64(bad+good) / float64(allBad+allGood)
	ratio := math.Log((float64(bad) + share) / (float64(allBad) +
		featureInertia) / ((float64(good) + share) / (float64(allGood) + featureInertia)))
	*known = ratio
	return ratio
}

// rate is the failure rate of a piece outside a fold, shrunk towards that of new ones.
func (t *runCounts) rate(p int32, fold uint8, fresh float64) float64 {
	good, bad := t.counts[p].without(fold)
	return (float64(bad) + pieceInertia*fresh) / (float64(bad+good) + pieceInertia)
}

// fresh is, by aspect, how often calls failed as far as their pieces were new to
// the other folds, shrunk towards the failure rate.
func (h *history) fresh(pieces *runCounts, base float64) (rates [aspects]float64) {
	var met, failed [aspects]float64
	for i, call := range h.judged {
		var isNew means
		for _, p := range h.read.pieces.of(call) {
			good, bad := pieces.counts[p].without(h.fold[i])
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
