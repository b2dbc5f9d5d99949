package preflight

import (
	"math"

	"memoryd"
)

// folds is in how many parts the runs of a history are cut for cross-validation:
// consecutive runs stand together, and no run is learned from to predict itself.
const folds = 5

// learner estimates from an input alone how likely it fails. It puts two scores
// together: naive Bayes over the input's features, and novelty. They count as far
// as they predicted the calls of runs that they had not seen: if not better than
// the failure rate does, they count for nothing.
type learner struct {
	bayes    map[uint64]float32 // by feature, its log likelihood ratio of failure
	familiar *familiar
	scaling  [scores]scaling
	weight   [scores]float64
	level    float64
	base     float64
	carried  float64 // see carry
	// eased is by how much the log odds change in runs that went well lately.
	eased [calms]float64
	// spread is by which factor outcomes scattered more about the predictions of
	// their block of the history than chance does: the sign of a tool, or of its
	// callers, that change.
	spread float64
}

const (
	byBayes = iota
	byNovelty
	scores
)

// scaling is the mean and the standard deviation of a score over the history.
type scaling struct{ mean, spread float64 }

// mostSpreads is how many standard deviations a score counts at most.
const mostSpreads = 3

func (s scaling) of(x float64) float64 {
	if s.spread < 1e-9 {
		return 0
	}
	return min(max((x-s.mean)/s.spread, -mostSpreads), mostSpreads)
}

// point is the scores of one call, brought to scale.
type point [scores]float64

// newLearner learns from the judged calls of a history. It also gives the estimate
// for each of them from the runs of the other folds.
func newLearner(h *history) (l *learner, estimates []float64) {
	l = &learner{spread: 1, base: h.rate()}
	bayes, fresh := newBayes(h), newNovelty(h)
	points := make([]point, len(h.judged))
	for i, call := range h.judged {
		points[i] = point{bayes.without(h, call, h.fold[i]), fresh.without(h, call, h.fold[i])}
	}
	for s := range scores {
		l.scaling[s] = scaleOf(points, s)
		for i := range points {
			points[i][s] = l.scaling[s].of(points[i][s])
		}
	}
	l.choose(h, points)
	l.level += l.shift(h, points)
	estimates = make([]float64, len(points))
	for i := range points {
		estimates[i] = l.at(points[i])
	}
	for k := calm(1); k < calms; k++ {
		l.eased[k] = h.ease(estimates, k)
	}
	l.spread = spreadOf(h, estimates)
	l.bayes, l.familiar = bayes.trained(h), fresh.trained(h)
	return l, estimates
}

func scaleOf(points []point, score int) (s scaling) {
	n := float64(len(points))
	for i := range points {
		s.mean += points[i][score] / n
	}
	for i := range points {
		s.spread += square(points[i][score]-s.mean) / n
	}
	s.spread = math.Sqrt(s.spread)
	return s
}

// of estimates the probability that a call with an input fails.
func (l *learner) of(in *planned) float64 {
	var bayes float64
	for _, f := range in.features {
		bayes += float64(l.bayes[f])
	}
	return l.at(point{l.scaling[byBayes].of(bayes / norm(len(in.features))), l.scaling[byNovelty].of(l.familiar.novelty(in))})
}

func (l *learner) at(p point) float64 {
	z := l.level
	for s := range p {
		z += l.weight[s] * p[s]
	}
	return logistic(z)
}

// candidate is a way to put the scores together: columns of the logistic
// regression that brings them to probabilities.
type candidate [][scores]float64

// candidates, the one first that is preferred where none is clearly better. The
// plain mean of forecasts tends to outlive weights that were fitted to the past
// (Stock and Watson, "Combination forecasts of output growth", Journal of
// Forecasting 23, 2004).
var candidates = []candidate{
	{{0.5, 0.5}},
	{{1, 0}},
	{{1, 0}, {0, 1}},
}

// The levels at which a difference in predicting the runs counts, in standard
// errors: between two candidates, and against the failure rate alone.
const (
	clearlyBetter = 1
	betterAtAll   = 1.645
)

// choose finds the candidate that predicts the runs best, and lets it count if it
// does so better than the failure rate.
func (l *learner) choose(h *history, points []point) {
	bad := make([]bool, len(points))
	for i, call := range h.judged {
		bad[i] = h.calls[call].failed()
	}
	flat := fitLogistic(nil, bad)
	best, bestLosses := flat, losses(flat, nil, bad)
	base := bestLosses
	for i, c := range candidates {
		rows := c.rows(points)
		fit := fitLogistic(rows, bad)
		ls := losses(fit, rows, bad)
		if i == 0 || h.gain(bestLosses, ls) > clearlyBetter {
			best, bestLosses = fit, ls
			l.weight = c.weights(fit)
		}
	}
	l.level = best.level
	if h.gain(base, bestLosses) <= betterAtAll {
		l.level, l.weight = flat.level, [scores]float64{}
	}
}

func (c candidate) rows(points []point) [][]float64 {
	rows := make([][]float64, len(points))
	all := make([]float64, len(points)*len(c))
	for i := range points {
		rows[i] = all[i*len(c) : (i+1)*len(c)]
		for k, column := range c {
			for s, share := range column {
				rows[i][k] += share * points[i][s]
			}
		}
	}
	return rows
}

// weights are those of the scores.
func (c candidate) weights(fit fitted) (w [scores]float64) {
	for k, column := range c {
		for s, share := range column {
			w[s] += share * fit.weights[k]
		}
	}
	return w
}

// gain is how much smaller the losses b are than a, by runs, in standard errors.
func (h *history) gain(a, b []float64) float64 {
	perRun := map[int32]float64{}
	for i := range a {
		perRun[h.run[i]] += a[i] - b[i]
	}
	var sum, squares float64
	for run := range h.runs { // in order, so that the sum is repeatable
		sum += perRun[run]
		squares += square(perRun[run])
	}
	if squares == 0 {
		return 0
	}
	return sum / math.Sqrt(squares)
}

// shift brings the level to the newest calls: a call counts half as much as one
// that came so many calls after it.
func (l *learner) shift(h *history, points []point) float64 {
	half := max(30, float64(len(points))/4)
	return h.fit(0, func(i int) (offset, x, weight float64) {
		return logit(clip(l.at(points[i]))), 1, math.Exp2(-float64(len(points)-1-i) / half)
	})
}

// ease is the change of the log odds that explains best how the calls came out
// whose runs were so calm; never upwards.
func (h *history) ease(estimates []float64, k calm) float64 {
	return min(0, h.fit(0, func(i int) (offset, x, weight float64) {
		if h.calm[i] == k {
			weight = 1
		}
		return logit(clip(estimates[i])), 1, weight
	}))
}

// carry is how much of what an input tells, in log odds, still counts after
// failures in a row, whose rate tells a part of the same.
func (h *history) carry(estimates []float64, met []rules, rates *[Rules]float64) float64 {
	base := logit(clip(h.rate()))
	return h.fit(0.5, func(i int) (offset, x, weight float64) {
		for _, r := range []Rule{FailedThrice, FailedTwice, FailedOnce, FailedChanged} {
			if met[i].has(r) {
				offset, weight = logit(clip(rates[r])), 1
			}
		}
		return offset, logit(clip(estimates[i])) - base, weight
	})
}

// rate is the failure rate.
func (h *history) rate() float64 {
	failed := 0.5
	for _, call := range h.judged {
		if h.calls[call].failed() {
			failed++
		}
	}
	return failed / float64(len(h.judged)+1)
}

// after is the estimate for a call whose input lets expect p, after failures in a
// row that let expect rate.
func (l *learner) after(rate, p float64) float64 {
	return logistic(logit(clip(rate)) + l.carried*(logit(clip(p))-logit(clip(l.base))))
}

// fit finds the number c for which the log odds offset + c·x explain the outcomes
// best, with a ridge of the weight of some calls around a start.
func (h *history) fit(start float64, of func(i int) (offset, x, weight float64)) float64 {
	const inertia = 2
	c := start
	for range 8 {
		gradient, curve := inertia*(c-start), float64(inertia)
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

// spreadOf is the mean squared deviation, in standard deviations, of the outcomes
// of consecutive parts of the history from their estimates; at least 1.
func spreadOf(h *history, estimates []float64) float64 {
	var sum float64
	for b := range folds {
		var off, variance float64
		for i := b * len(estimates) / folds; i < (b+1)*len(estimates)/folds; i++ {
			p := estimates[i]
			off -= p
			variance += p * (1 - p)
			if h.calls[h.judged[i]].failed() {
				off++
			}
		}
		sum += square(off) / max(variance, 1e-9) / folds
	}
	return min(max(1, sum), 50)
}

// bayes counts features by outcome, for the whole history and by fold.
type bayes struct {
	bad, good []counts // by feature
	all       [2]counts
}

// counts are weights of calls: in all, and by fold.
type counts struct {
	sum  float32
	fold [folds]float32
}

func (c *counts) add(w float32, fold uint8) {
	c.sum += w
	c.fold[fold] += w
}

// newBayes counts. Equal outcomes within one run weigh as much together as the
// root of their number: an agent that tries the same thing over and over tells
// little more each time. A call that scored 0.5 counts half for each outcome.
func newBayes(h *history) *bayes {
	n := len(h.read.known.keys)
	b := &bayes{bad: make([]counts, n), good: make([]counts, n)}
	weight := h.weigh()
	for i, call := range h.judged {
		bad := float32((1 - h.calls[call].score) * weight[i])
		good := float32(weight[i]) - bad
		b.all[0].add(bad, h.fold[i])
		b.all[1].add(good, h.fold[i])
		for _, f := range h.read.features.of(int(call)) {
			if bad > 0 {
				b.bad[f].add(bad, h.fold[i])
			}
			if good > 0 {
				b.good[f].add(good, h.fold[i])
			}
		}
	}
	return b
}

// without is the score of a call of the history by the calls of the other folds.
func (b *bayes) without(h *history, call int32, fold uint8) float64 {
	features := h.read.features.of(int(call))
	var sum float64
	for _, f := range features {
		sum += b.ratio(f, func(c *counts) float32 { return c.sum - c.fold[fold] })
	}
	return sum / norm(len(features))
}

// ratio is the logarithm of how much more frequent a feature is among failures
// than among other calls. Each side is shrunk by one call towards the frequency
// over all, so that a feature that was never seen says nothing.
func (b *bayes) ratio(f int32, of func(*counts) float32) float64 {
	bad, good, allBad, allGood := of(&b.bad[f]), of(&b.good[f]), of(&b.all[0]), of(&b.all[1])
	if allBad+allGood <= 0 || bad+good <= 0 {
		return 0
	}
	share := (bad + good) / (allBad + allGood)
	return math.Log(float64((bad + share) / (allBad + 1) / ((good + share) / (allGood + 1))))
}

// trained are the ratios by what the features are hashes of.
func (b *bayes) trained(h *history) map[uint64]float32 {
	ratios := make(map[uint64]float32, len(b.bad))
	for f := range b.bad {
		ratios[h.read.known.keys[f]] = float32(b.ratio(int32(f), func(c *counts) float32 { return c.sum })) //nolint:gosec // bounded by calls times features of one
	}
	return ratios
}

// norm brings the sums of inputs with many features and with few to one scale:
// features of one text go together.
func norm(features int) float64 { return math.Sqrt(float64(1 + features)) }

func (h *history) weigh() []float64 {
	type sort struct {
		run    int32
		failed bool
	}
	count := map[sort]int{}
	for i, call := range h.judged {
		count[sort{h.run[i], h.calls[call].failed()}]++
	}
	weights := make([]float64, len(h.judged))
	var sum float64
	for i, call := range h.judged {
		weights[i] = 1 / math.Sqrt(float64(count[sort{h.run[i], h.calls[call].failed()}]))
		sum += weights[i]
	}
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
	}
	return weights
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

// leastOutcome is how many failures, and how many others, inputs are learned from.
const leastOutcome = 3

// varies reports whether there is something to learn.
func (h *history) varies() bool {
	failed := 0
	for _, call := range h.judged {
		if h.calls[call].failed() {
			failed++
		}
	}
	return failed >= leastOutcome && len(h.judged)-failed >= leastOutcome
}

// failed reports a call that scored 0.
func (l *learned) failed() bool { return l.judged && l.score <= memoryd.ScoreFailure }
