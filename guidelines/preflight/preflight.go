// Package preflight forecasts a planned call from the history of its tool and from its run:
// the risk of failure, why, what to change, the most similar calls, and the expected
// duration. It uses no model.
//
// The risk has three sources. A learner estimates it from the input, as far as inputs
// predicted outcomes in runs that it had not seen. For an input that was tried before, its
// own record counts. And rules, such as "this call already failed in this run", count with
// the failure rate of the calls that met them: of this tool, or, if it has few such calls, of
// public recordings; whether the failures of a tool come together, its own runs alone tell.
package preflight

import (
	"encoding/json"
	"strings"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/internal/stats"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// Planned is a planned call.
type Planned struct {
	Input json.RawMessage
	// Run names its run, "" if unknown. RunCalls are the calls of the run so far, of all
	// tools, newest first.
	Run      string
	RunCalls []store.RunCall
	// Since are calls of the tool that the model has not learned from yet. They may contradict
	// a rule, and where no run is known their outcomes count.
	Since []evidence.Observation
	// Elsewhere are rules of other tools. They warn of calls that break no rule of this one, and change no call.
	Elsewhere []Elsewhere
	// World is what its workspace knows; nil for none.
	World *evidence.World
	// Source is the number of who records it, as evidence.WriterOf gives it.
	Source uint64
	Now    time.Time
}

// Assessment is the forecast for a planned call.
type Assessment struct {
	// Risk is the estimated probability that the call scores 0; nil if neither history nor
	// run shows anything.
	Risk *float64
	// RiskCI95 is a 95 % interval for Risk: Wilson's, with the effective number of similar
	// calls. It is zero if Risk is nil.
	RiskCI95 [2]float64
	// BaseRate is the share of judged calls that scored 0, over Judged calls.
	BaseRate float64
	Judged   int
	// Warnings are at most three, the most certain first.
	Warnings []Warning
	// Suggestion is the input with one change that is known to repair such calls; nil if
	// there is none.
	Suggestion json.RawMessage
	// ExpectedTimeCost is the median time in seconds of similar calls, or of all if there are
	// few; nil if no time is known.
	ExpectedTimeCost *float64
	// SimilarGood and SimilarBad are the most similar calls that scored 1, and 0; at most
	// three each.
	SimilarGood []Similar
	SimilarBad  []Similar
}

// Severity says what a host should do about a warning.
type Severity string

// The severities: for a failure rate from 0.9, from 0.5, and below.
const (
	Stop Severity = "stop" // do not make the call
	Ask  Severity = "ask"  // ask a person
	Note Severity = "note" // show it
)

func severityOf(rate float64) Severity {
	switch {
	case rate >= 0.9:
		return Stop
	case rate >= 0.5:
		return Ask
	}
	return Note
}

// Warning is a reason why the planned call may fail, and what to change.
type Warning struct {
	// Text is written by this package. It quotes at most twelve masked words of a tool.
	Text string
	// Line is what to do, without the counts; "" without a tested rule.
	Line     string
	Severity Severity
	// Rule is the rule behind the warning.
	Rule string
	// Calls are the keys of the calls behind the warning.
	Calls []memoryd.CallKey
}

// Similar is a recorded call that resembles the planned one.
type Similar struct {
	Call memoryd.CallKey
	// Similarity is the cosine of the two inputs' weighted features, 0 to 1.
	Similarity float64
	Score      float64
	// Input is the beginning of its input, Summary its verdict in words.
	Input   string
	Summary string
}

// Options are what a model learns from besides the calls.
type Options struct {
	// Tool is the name of the tool.
	Tool string
	// Tested are the rules that the calls support.
	Tested []Tested
	// Hints warn only the source whose calls show them.
	// They change no call, and hold back no change that a rule asks for.
	Hints []Tested
	// FalseAlarms is the share of a tool's good calls that its warnings may affect; 0 means
	// no warnings.
	FalseAlarms float64
}

// Bounds on what is learned from, and shown: the newest calls count.
const (
	maxCalls     = 2000
	mostWarnings = 3
	shownCalls   = 20
)

// Model is what was learned from the history of one tool. It is immutable and safe for
// concurrent use.
type Model struct {
	options Options
	shared  bool // by several sources
	calls   []learned
	keys    map[memoryd.CallKey]struct{}
	byInput map[uint64][]int32 // places of the judged calls of each input, oldest first

	judged  Count
	rates   Rates
	watched rules
	learner *learner         // nil when outcomes do not vary
	paths   map[string]bool  // of the inputs of calls that worked
	pieces  map[uint64]int32 // the numbers of those that calls had
	near    *neighbours
	sums    sumsTested
	time    *float64 // the median
}

// learned is what is kept of a call.
type learned struct {
	key      memoryd.CallKey
	run      uint64 // a call that names none has one of its own
	identity uint64 // the same for equal inputs
	judged   bool
	score    float64
	seconds  float64 // 0 means unknown
	source   uint64  // who recorded it
	// input is the beginning of the input, summary what the judge said.
	input, summary string
}

// planned is an input as it is looked at.
type planned struct {
	raw      json.RawMessage
	bytes    int // their sum: see byteSum
	leaves   []leaf
	identity uint64
	numbers  []int32  // of its pieces where the model knows them, else -1
	aspect   []aspect // of the pieces
}

// read reads a planned input.
func (m *Model) read(input []byte) *planned {
	leaves := leavesOf(input)
	c := newCollector(len(input))
	c.read(leaves)
	p := &planned{
		raw: input, bytes: byteSum(input), leaves: leaves, identity: identityOf(leaves), aspect: c.aspect, numbers: make([]int32, len(c.keys)),
	}
	for i, piece := range c.keys {
		n, known := m.pieces[piece]
		if p.numbers[i] = n; !known {
			p.numbers[i] = -1
		}
	}
	return p
}

// history is what is learned from.
type history struct {
	calls  []learned
	judged []int32 // places of the judged calls
	read   *collector
}

// Learn builds the model of a tool from its calls, oldest first. It neither keeps nor changes
// them.
func Learn(calls []evidence.Observation, options Options) *Model {
	calls = calls[max(0, len(calls)-maxCalls):]
	m := &Model{
		options: options, calls: make([]learned, len(calls)), keys: make(map[memoryd.CallKey]struct{}, len(calls)),
		byInput: map[uint64][]int32{}, paths: map[string]bool{}, sums: sumsTested{asked: map[uint64][]demand{}},
	}
	size, times := 0, []float64(nil)
	for i := range calls {
		size += min(len(calls[i].Input), maxBytes)
	}
	h := &history{calls: m.calls, read: newCollector(size)}
	p := newReplay()
	good := map[rules]int{}
	for i := range calls {
		c, leaves := &calls[i], leavesOf(calls[i].Input)
		h.read.read(leaves)
		l := &m.calls[i]
		*l = learned{
			key: c.Key, run: c.OwnRun(), identity: identityOf(leaves), source: c.Writer,
			judged: c.Evaluation.State == memoryd.Judged, score: c.Evaluation.Score,
			input: excerpt(string(memoryd.InputText(c.Input))), summary: strings.Clone(c.Evaluation.Summary),
		}
		m.keys[c.Key] = struct{}{}
		if stats.KnownTime(c.TimeCost) {
			l.seconds = c.TimeCost
			times = append(times, c.TimeCost)
		}
		m.shared = m.shared || c.Shared
		set := p.next(l)
		if !l.judged {
			continue
		}
		h.judged = append(h.judged, int32(i))                           //nolint:gosec // at most maxCalls
		m.byInput[l.identity] = append(m.byInput[l.identity], int32(i)) //nolint:gosec // at most maxCalls
		m.count(l, set, good)
		m.sums.learn(l.run, l.failed(), c.Output, leaves)
		if !l.failed() {
			for k := range leaves {
				m.paths[leaves[k].Path] = true
			}
		}
	}
	if len(times) > 0 {
		median := stats.Median(times)
		m.time = &median
	}
	m.pieces, m.near = h.read.numbers, newNeighbours(h)
	m.learn(h, good)
	return m
}

// shownBytes is how much of an input an answer shows.
const shownBytes = 300

// excerpt is the beginning of a text, which it does not keep alive.
func excerpt(s string) string {
	if len(s) <= shownBytes {
		return strings.Clone(s)
	}
	return textsafe.Head(s, shownBytes) + "…"
}

// count takes the outcome of a judged call in, by the rules that it met.
func (m *Model) count(l *learned, set rules, good map[rules]int) {
	m.judged.add(l.failed())
	for _, r := range set.list() {
		m.rates[r].add(l.failed())
	}
	if !l.failed() {
		good[set]++
	}
}

// leastOutcome is how many failures, and how many others, inputs are learned from.
const leastOutcome = 3

// learn fits what is learned from inputs, and chooses what is warned of.
func (m *Model) learn(h *history, good map[rules]int) {
	base := m.judged.rate()
	if min(m.judged.Failed, m.judged.Calls-m.judged.Failed) >= leastOutcome {
		m.learner = newLearner(h, base)
	}
	m.watched = watch(&m.rates, good, base, m.options.FalseAlarms)
}

// Calls returns the number of calls that the model learned from.
func (m *Model) Calls() int { return len(m.calls) }

// Assess returns the forecast from the history and the run.
func (m *Model) Assess(p Planned) Assessment {
	in := m.read(p.Input)
	a := Assessment{Judged: m.judged.Calls, BaseRate: stats.Share(m.judged.Failed, m.judged.Calls)}
	near := m.near.of(in)
	v := m.view(in, p)
	m.risk(&a, v, near)
	fix := m.suggest(v)
	a.Suggestion = fix.input
	a.Warnings = m.warnings(&a, v, near, fix)
	a.ExpectedTimeCost = m.expectedTime(near)
	a.SimilarGood = m.similar(near, func(c *learned) bool { return c.judged && c.score >= memoryd.ScoreSuccess })
	a.SimilarBad = m.similar(near, (*learned).failed)
	return a
}

// ownWeight is for how many tries of an input the estimate from its likes counts beside its own record.
const ownWeight = 1

// risk sets the risk and its interval.
func (m *Model) risk(a *Assessment, v *view, near []neighbour) {
	rate, weight := 0.0, float64(m.judged.Calls)
	if weight > 0 {
		rate = m.judged.rate()
	}
	if weight == 0 && v.met == 0 && v.own.Calls == 0 {
		return
	}
	risk, support := rate, weight
	if m.learner != nil {
		risk = m.learner.of(v.in)
		support = min(weight, 4+effective(near))
	}
	if n := v.kept; n.Calls > 0 { // the learner does not know what a run did
		risk = logistic(logit(clip(risk)) + logit(clip(n.rate())) - logit(clip(rate)))
	}
	// After a failure the tool's calls come out alike, but not all inputs do.
	own := logit(clip(risk)) - logit(clip(rate))
	raise := func(of ...Rule) {
		for _, r := range of {
			if v.met.has(r) {
				rate, calls := m.rates.of(r, m.judged.rate())
				if r >= FailedThrice {
					rate = logistic(logit(clip(rate)) + own)
				}
				if rate > risk {
					risk, support = rate, calls
				}
			}
		}
	}
	// What an input's own record says comes after what is said of all inputs, and
	// before what is said of this input in this run.
	raise(NeverWorked, FailedThrice, FailedTwice, FailedOnce)
	if v.own.Calls > 0 {
		risk = (float64(v.own.Failed) + ownWeight*risk) / (float64(v.own.Calls) + ownWeight) // of a Beta distribution
		support = float64(v.own.Calls) + ownWeight
	}
	raise(RepeatsFailure, OnlyFailed)
	for _, t := range v.breaks {
		if r := t.Risk(); r > risk {
			risk, support = r, float64(t.Calls+t.Good)
		}
	}
	if risk = clip(risk); m.oneOther(v, near) {
		risk = min(risk, mostOfOne)
	}
	a.Risk = &risk
	i := stats.WilsonShare(risk, max(1, support))
	a.RiskCI95 = *i
}

// mostOfOne is the highest risk that the calls of one source bring about for another one:
// below that of the severity ask.
const mostOfOne = 0.49

// oneOther reports whether the failures of calls like the planned one, or of the tool where
// none is like it, would not be most of these calls without those of one source, and that is
// another than the caller.
func (m *Model) oneOther(v *view, near []neighbour) bool {
	if !m.shared || len(v.breaks) > 0 || v.streak > 0 {
		return false
	}
	failed, good := map[uint64]int{}, 0
	note := func(c *learned) {
		if c.failed() {
			failed[c.source]++
		} else if c.judged {
			good++
		}
	}
	for _, place := range m.byInput[v.in.identity] {
		note(&m.calls[place])
	}
	for _, n := range near {
		if n.similarity >= likeness {
			note(&m.calls[n.call])
		}
	}
	if len(failed) == 0 {
		good = 0
		for i := range m.calls {
			note(&m.calls[i])
		}
	}
	others, most := 0, 0
	for source, n := range failed {
		if others += n; source != v.Source {
			most = max(most, n)
		}
	}
	others -= most
	return most > 0 && (others == 0 || others < good)
}

// effective is the number of calls that the near ones count for.
func effective(near []neighbour) float64 {
	var sum float64
	for _, n := range near {
		sum += n.similarity
	}
	return sum
}
