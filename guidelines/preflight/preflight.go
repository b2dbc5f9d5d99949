// Package preflight says of a planned call, before it is made, what the history
// of its tool lets expect: the risk that it fails, the conditions of the
// evidence that it meets, the calls most like it, and what it will take. It asks
// no model.
//
// The risk is estimated from the input alone: from its words and their form, from
// the calls most like it, and from how much of it no successful call ever had.
// It is shrunk towards the tool's failure rate as far as predictions within the
// history were wrong, so that a history that tells nothing yields the failure
// rate and not a guess.
package preflight

import (
	"encoding/json"
	"math"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/stats"
)

// Assessment is what the history says of a planned call.
type Assessment struct {
	// Risk is the estimated probability that the call scores 0; nil when there is
	// neither a judged call nor a prior. Borrowed says that it rests on other
	// tools, because this one has too few judged calls.
	Risk     *float64
	Borrowed bool
	// RiskCI95 is a 95 % interval for Risk: Wilson's, with as many calls as are
	// effectively like this one. Zero when Risk is nil.
	RiskCI95 [2]float64
	// BaseRate is the share of judged calls that scored 0, over Judged calls.
	BaseRate float64
	Judged   int
	// Warnings stand most telling first.
	Warnings []Warning
	// ExpectedTimeCost is the median time in seconds of the calls like this one,
	// or of all where few are known; nil when no call knows its time.
	ExpectedTimeCost *float64
	// SimilarGood and SimilarBad are the nearest calls that scored 1, and 0, at
	// most three each.
	SimilarGood []Similar
	SimilarBad  []Similar
}

// Warning is something about the planned call that went wrong before. Its text
// is cleaned: it may be shown to an agent.
type Warning struct {
	Text string
	// Evidence are the ids of evidence items, Calls the keys of the calls behind
	// the warning.
	Evidence []string
	Calls    []memoryd.CallKey
}

// Similar is a call of the history that resembles the planned one.
type Similar struct {
	Call memoryd.CallKey
	Seq  int64
	// Similarity is the cosine of the two inputs' weighted features, 0 to 1.
	Similarity float64
	Score      float64
}

// Prior is what other tools of the same shape let expect of a tool that has few
// judged calls of its own.
type Prior struct {
	// Risk is the expected share of calls that score 0, Weight the number of
	// judged calls that this expectation counts for.
	Risk   float64
	Weight float64
}

// maxCalls bounds the history that is learned from: the newest calls count.
const maxCalls = 2000

// Model is what was learned from the history of one tool. It is immutable and
// safe for concurrent use, and keeps no call's output.
type Model struct {
	prior    Prior
	evidence evidence.Evidence
	calls    []learned
	judged   int
	failed   int
	scorer   *scorer // nil when outcomes do not vary
	combine  combination
	near     *neighbours
	times    []float64
}

// learned is what is kept of a call.
type learned struct {
	key        memoryd.CallKey
	seq        int64
	trajectory string
	identity   uint64 // the same for equal inputs
	judged     bool
	score      float64
	seconds    float64 // 0 means unknown
}

// planned is an input as it is looked at.
type planned struct {
	identity uint64
	features [views][]uint64
	pieces   [aspects][]uint64
}

func read(input []byte) planned {
	leaves := leavesOf(input)
	c := newCollector()
	c.read(leaves)
	p := planned{identity: identityOf(leaves)}
	for v := range views {
		p.features[v] = hashes(&c.features[v], c.known.keys)
	}
	for a := range aspects {
		p.pieces[a] = hashes(&c.pieces[a], c.parts.keys)
	}
	return p
}

// sameAs is the place of the first call that is made of the same as the newest.
func (h *history) sameAs(newest int, byIdentity map[uint64]int32) int32 {
	first, known := byIdentity[h.calls[newest].identity]
	if known && h.equal(int(first), newest) {
		return first
	}
	if !known {
		byIdentity[h.calls[newest].identity] = int32(newest) //nolint:gosec // at most maxCalls
	}
	return int32(newest) //nolint:gosec // at most maxCalls
}

// equal reports whether two calls have the same features and pieces.
func (h *history) equal(a, b int) bool {
	for v := range views {
		if f := &h.read.features[v]; !slices.Equal(f.of(a), f.of(b)) {
			return false
		}
	}
	for p := range aspects {
		if f := &h.read.pieces[p]; !slices.Equal(f.of(a), f.of(b)) {
			return false
		}
	}
	return true
}

// hashes are what the numbers of the first input stand for.
func hashes(b *bags, keys []uint64) []uint64 {
	out := make([]uint64, 0, len(b.numbers))
	for _, n := range b.of(0) {
		out = append(out, keys[n])
	}
	return out
}

// history is what is learned from.
type history struct {
	calls  []learned
	judged []int32 // places of the judged calls
	first  []int32 // by call, the place of the first that is equal
	read   *collector
}

// Learn builds the model of a tool from its kept calls, oldest first. The prior
// may be nil. The calls are neither kept nor changed.
func Learn(calls []memoryd.Call, prior *Prior) *Model {
	calls = calls[max(0, len(calls)-maxCalls):]
	m := &Model{evidence: evidence.Mine(calls), calls: make([]learned, len(calls))}
	h := &history{calls: m.calls, read: newCollector()}
	if prior != nil && prior.Weight > 0 {
		m.prior = *prior
	}
	seen := map[uint64]int32{}
	for i := range calls {
		c := &calls[i]
		leaves := leavesOf(c.Input)
		h.read.read(leaves)
		l := learned{
			key: c.Key, seq: c.Seq, trajectory: evidence.Trajectory(c.Metadata), identity: identityOf(leaves),
			judged: c.Evaluation.State == memoryd.Judged, score: c.Evaluation.Score,
		}
		if stats.KnownTime(c.TimeCost) {
			l.seconds = c.TimeCost
			m.times = append(m.times, c.TimeCost)
		}
		if l.judged {
			m.judged++
			h.judged = append(h.judged, int32(i)) //nolint:gosec // at most maxCalls
			if l.failed() {
				m.failed++
			}
		}
		m.calls[i] = l
		h.first = append(h.first, h.sameAs(i, seen))
	}
	m.near = newNeighbours(h)
	m.learn(h)
	return m
}

func (l *learned) failed() bool { return l.judged && l.score <= memoryd.ScoreFailure }

// learn fits the scorer where there is something to fit.
func (m *Model) learn(h *history) {
	if m.failed < leastOutcome || m.judged-m.failed < leastOutcome {
		return
	}
	fresh := newNovelty(h)
	m.combine = calibrate(h, &fresh)
	s := newLearner(h, len(h.judged), &fresh)
	m.scorer = s.kept()
}

// leastOutcome is how many failures, and how many others, a scorer is fitted on.
const leastOutcome = 3

// rate is the failure rate with the prior's share in it, and the number of calls
// that it counts for.
func (m *Model) rate() (rate, weight float64) {
	weight = m.prior.Weight + float64(m.judged)
	if weight == 0 {
		return 0, 0
	}
	return (m.prior.Risk*m.prior.Weight + float64(m.failed)) / weight, weight
}

// Assess tells what the history lets expect of a call with this input.
func (m *Model) Assess(input json.RawMessage) Assessment {
	p := read(input)
	a := Assessment{Judged: m.judged}
	if m.judged > 0 {
		a.BaseRate = float64(m.failed) / float64(m.judged)
	}
	near := m.near.of(p)
	m.risk(&a, p, near)
	a.Warnings = m.warnings(input, p, near)
	a.ExpectedTimeCost = m.expectedTime(near)
	a.SimilarGood = m.similar(near, func(c *learned) bool { return c.judged && c.score >= memoryd.ScoreSuccess })
	a.SimilarBad = m.similar(near, (*learned).failed)
	return a
}

// risk sets the risk and its interval.
func (m *Model) risk(a *Assessment, p planned, near []neighbour) {
	rate, weight := m.rate()
	if weight == 0 {
		return
	}
	a.Borrowed = float64(m.judged) < m.prior.Weight
	support := weight
	risk := rate
	if m.scorer != nil {
		start := (float64(m.failed) + 0.5*rate + 1e-3) / (float64(m.judged) + 0.5 + 2e-3)
		risk = logistic(logit(start) + m.combine.offset(m.scorer.parts(p)))
		own := float64(m.judged) / weight
		risk = own*risk + (1-own)*m.prior.Risk
		support = min(weight, 4+effective(near))
	}
	a.Risk = &risk
	i := stats.WilsonShare(risk, support)
	a.RiskCI95 = [2]float64(*i)
}

// effective is the number of calls that the near ones count for.
func effective(near []neighbour) float64 {
	var sum float64
	for _, n := range near {
		sum += n.similarity
	}
	return sum
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
