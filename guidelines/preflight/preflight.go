// Package preflight says of a planned call, before it is made, what the history of
// its tool and the run it belongs to let expect: the risk that it fails, why, what
// to change, the calls most like it, and what it will take. It asks no model.
//
// The risk comes from three sources. A learner estimates it from the input, as far
// as inputs told outcomes in runs that it had not seen. An input that was tried
// before goes by its own record. And rules, such as "this very call failed in this
// run", count with the rate at which calls that met them failed, for this tool and,
// where it has few such calls, over tools.
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

// Planned is a call that is about to be made.
type Planned struct {
	Input json.RawMessage
	// Run names the run that it belongs to, "" when that is not known; RunCalls are
	// what the run has done so far, over all tools, the newest first.
	Run      string
	RunCalls []store.RunCall
	// Newest are calls of the tool that the model has not learned from.
	Newest []memoryd.Call
	// Since are the same calls, whatever the run, as they were read: they may contradict a
	// rule.
	Since []evidence.Observation
	// Agent is the number of who makes it, as evidence.AgentOf gives it; 0: unknown.
	Agent uint64
	Now   time.Time
}

// Assessment is what the history says of a planned call.
type Assessment struct {
	// Risk is the estimated probability that the call scores 0; nil when neither the
	// history nor the run nor a prior tells anything. Borrowed says that it rests on
	// other tools, because this one has too few judged calls.
	Risk     *float64
	Borrowed bool
	// RiskCI95 is a 95 % interval for Risk: Wilson's, with as many calls as are
	// effectively like this one, fewer where the history is not of one piece. Zero
	// when Risk is nil.
	RiskCI95 [2]float64
	// BaseRate is the share of judged calls that scored 0, over Judged calls.
	BaseRate float64
	Judged   int
	// Warnings are at most three, the surest first.
	Warnings []Warning
	// Suggestion is the input with one change that is known to repair such calls;
	// nil where none is known.
	Suggestion json.RawMessage
	// SuggestionWorked is how many calls with exactly that input worked.
	SuggestionWorked int
	// ExpectedTimeCost is the median time in seconds of the calls like this one,
	// or of all where few are known; nil when no call knows its time.
	ExpectedTimeCost *float64
	// SimilarGood and SimilarBad are the nearest calls that scored 1, and 0, at
	// most three each.
	SimilarGood []Similar
	SimilarBad  []Similar
}

// Severity says what a host should do about a warning.
type Severity string

// The severities: at a rate of failure of 0.9, of 0.5, and below.
const (
	Stop Severity = "stop" // do not make the call
	Ask  Severity = "ask"  // let somebody decide
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

// Warning is a reason to think that the planned call fails, and what to change.
type Warning struct {
	// Text is written by this package; of what a tool said it holds at most twelve
	// words, masked, in quotation marks.
	Text string
	// Line is what to do, without its counts; "" of what no tested rule says.
	Line     string
	Severity Severity
	// Rule names what the warning goes by.
	Rule string
	// Calls are the keys of the calls behind the warning.
	Calls []memoryd.CallKey
}

// Similar is a call of the history that resembles the planned one.
type Similar struct {
	Call memoryd.CallKey
	Seq  int64
	// Similarity is the cosine of the two inputs' weighted features, 0 to 1.
	Similarity float64
	Score      float64
	// Input is the beginning of its input, Summary what the judge said.
	Input   string
	Summary string
}

// Prior is what other tools of the same shape let expect of a tool that has few
// judged calls of its own.
type Prior struct {
	// Risk is the expected share of calls that score 0, Weight the number of
	// judged calls that this expectation counts for.
	Risk   float64
	Weight float64
}

// Options is what a model is learned with beside the calls.
type Options struct {
	// Tool is the name of the tool.
	Tool string
	// Prior may be nil.
	Prior *Prior
	// Observed is what was read of calls when they were recorded: where their values
	// stood before in their runs, and whose they are. It need not know all.
	Observed map[memoryd.CallKey]Observed
	// JSON says that the tool usually answers with JSON: a line of text is odd then.
	JSON bool
	// Tested are the rules that the calls bear out.
	Tested []Tested
	// Shared says that several sources recorded calls in the workspace.
	Shared bool
	// Pool is how calls of the other tools came out that met the rules.
	Pool Rates
	// FalseAlarms is the share of its good calls that a tool's warnings may be
	// about; 0 is no warning.
	FalseAlarms float64
}

// Bounds on what is learned from, and shown: the newest calls count.
const (
	maxCalls     = 2000
	mostWarnings = 3
	shownCalls   = 20
)

// Model is what was learned from the history of one tool. It is immutable and
// safe for concurrent use.
type Model struct {
	options Options
	calls   []learned
	keys    map[memoryd.CallKey]struct{}
	byInput map[uint64][]int32 // places of the judged calls of each input, oldest first

	judged, failed int
	rates          Rates
	again          Count // inputs that went wrong in their run, sent again: Failed of them went wrong again
	watched        rules
	cut            float64  // the estimate from which on the learner warns
	learner        *learner // nil when outcomes do not vary
	concentration  float64
	values         *values
	paths          map[string]bool // of the inputs of calls that worked
	near           *neighbours
	times          []float64
}

// learned is what is kept of a call.
type learned struct {
	key      memoryd.CallKey
	seq      int64
	run      string
	identity uint64 // the same for equal inputs
	judged   bool
	score    float64
	seconds  float64 // 0 means unknown
	said     uint64  // the same for messages of one kind
	// input is the beginning of the input, summary what the judge said.
	input, summary string
}

// planned is an input as it is looked at.
type planned struct {
	raw      json.RawMessage
	leaves   []leaf
	identity uint64
	features []uint64
	pieces   []uint64
	aspect   []aspect // of the pieces
}

func read(input []byte) *planned {
	leaves := leavesOf(input)
	c := newCollector(len(input))
	c.read(leaves)
	return &planned{raw: input, leaves: leaves, identity: identityOf(leaves), features: c.features.keys, pieces: c.pieces.keys, aspect: c.aspect}
}

// history is what is learned from.
type history struct {
	calls  []learned
	judged []int32 // places of the judged calls
	read   *collector
	// By judged call: its run, of so many, and the fold that this is in.
	run  []int32
	fold []uint8
	// agent is the number of who made it, 0 when that is not known.
	agent []uint64
	mark  []int32 // room for common
	runs  int32
}

// Learn builds the model of a tool from its kept calls, oldest first. The calls are
// neither kept nor changed.
func Learn(calls []memoryd.Call, options Options) *Model {
	calls = calls[max(0, len(calls)-maxCalls):]
	m := &Model{
		options: options, calls: make([]learned, len(calls)), keys: make(map[memoryd.CallKey]struct{}, len(calls)),
		byInput: map[uint64][]int32{}, values: newValues(), paths: map[string]bool{}, cut: 2,
	}
	size := 0
	for i := range calls {
		size += min(len(calls[i].Input), maxBytes)
	}
	h := &history{calls: m.calls, read: newCollector(size)}
	p := newReplay()
	good := map[rules]int{}
	type sent struct {
		run   string
		input uint64
	}
	wrong := map[sent]bool{}
	var metByJudged []rules
	for i := range calls {
		c, leaves := &calls[i], leavesOf(calls[i].Input)
		h.read.read(leaves)
		l := &m.calls[i]
		*l = learned{
			key: c.Key, seq: c.Seq, run: c.Run(), identity: identityOf(leaves),
			judged: c.Evaluation.State == memoryd.Judged, score: c.Evaluation.Score,
			input: excerpt(string(memoryd.InputText(c.Input))), summary: strings.Clone(c.Evaluation.Summary),
		}
		m.keys[c.Key] = struct{}{}
		if stats.KnownTime(c.TimeCost) {
			l.seconds = c.TimeCost
			m.times = append(m.times, c.TimeCost)
		}
		seen := options.Observed[c.Key]
		set := p.next(h, int32(i)) //nolint:gosec // at most maxCalls
		if !l.judged {
			continue
		}
		if at := (sent{l.run, l.identity}); l.run != "" {
			isWrong := m.wrong(l.score, c.Output)
			if wrong[at] {
				m.again.add(isWrong)
			}
			wrong[at] = isWrong
		}
		h.agent = append(h.agent, seen.Agent)
		h.judged = append(h.judged, int32(i))                           //nolint:gosec // at most maxCalls
		m.byInput[l.identity] = append(m.byInput[l.identity], int32(i)) //nolint:gosec // at most maxCalls
		metByJudged = append(metByJudged, set)
		m.count(l, set, good)
		m.values.take(l, c, leaves)
		if !l.failed() {
			for k := range leaves {
				m.paths[leaves[k].path] = true
			}
		}
	}
	m.values.open = nil
	if options.Shared {
		m.values.sources[""] = true // who uses other tools
	}
	m.options.Observed = nil
	m.near = newNeighbours(h)
	m.learn(h, good, metByJudged)
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
	m.judged++
	for r := range Rules {
		if set.has(r) {
			m.rates.Met[r].Calls++
			if l.failed() {
				m.rates.Met[r].Failed++
			}
		}
	}
	if l.failed() {
		m.failed++
	} else {
		good[set]++
		m.rates.Good++
	}
}

// learn fits what is learned from inputs, and chooses what is warned of.
func (m *Model) learn(h *history, good map[rules]int, metByJudged []rules) {
	m.concentration = startConcentration
	base := (float64(m.failed) + 0.5) / (float64(m.judged) + 1)
	estimates := make([]float64, len(h.judged))
	for i := range estimates {
		estimates[i] = base
	}
	if h.varies() {
		h.foldRuns()
		m.learner, estimates = newLearner(h)
	}
	m.concentration = concentrationOf(h, estimates)
	m.watched = watch(&m.rates, &m.options.Pool, good, base, m.options.FalseAlarms)
	m.cut = m.cutFor(h, estimates, metByJudged, base)
}

// Rates are how this tool's calls came out that met the rules.
func (m *Model) Rates() Rates { return m.rates }

// Calls is how many calls the model was learned from.
func (m *Model) Calls() int { return len(m.calls) }

// rate is the failure rate with the prior's share in it, and the number of calls
// that it counts for.
func (m *Model) rate() (rate, weight float64) {
	failed, weight := float64(m.failed), float64(m.judged)
	switch p := m.options.Prior; {
	case p != nil && p.Weight > 0:
		weight += p.Weight
		return (failed + p.Risk*p.Weight) / weight, weight
	case weight == 0:
		return 0, 0
	}
	return (failed + 0.5) / (weight + 1), weight
}

// Assess tells what the history and the run let expect of a call.
func (m *Model) Assess(p Planned) Assessment {
	in := read(p.Input)
	a := Assessment{Judged: m.judged}
	if m.judged > 0 {
		a.BaseRate = float64(m.failed) / float64(m.judged)
	}
	near := m.near.of(in)
	v := m.view(in, p)
	m.risk(&a, v, near)
	fix := m.suggest(v)
	a.Suggestion = fix.input
	for _, place := range m.byInput[identityOf(leavesOf(fix.input))] {
		if fix.input != nil && m.calls[place].score >= memoryd.ScoreSuccess {
			a.SuggestionWorked++
		}
	}
	a.Warnings = m.warnings(&a, v, near, fix)
	a.ExpectedTimeCost = m.expectedTime(near)
	a.SimilarGood = m.similar(near, func(c *learned) bool { return c.judged && c.score >= memoryd.ScoreSuccess })
	a.SimilarBad = m.similar(near, (*learned).failed)
	return a
}

// ownShare is how much of what the learner says of an input, against the tool's
// rate and in log odds, counts beside the rate of calls that follow a failure. Half
// of it: the rate holds a part of it already, since a run that fails goes on with
// the same kind of inputs.
const ownShare = 0.5

// risk sets the risk and its interval.
func (m *Model) risk(a *Assessment, v *view, near []neighbour) {
	rate, weight := m.rate()
	if weight == 0 && v.met == 0 && v.own.Calls == 0 {
		return
	}
	a.Borrowed = m.options.Prior != nil && float64(m.judged) < m.options.Prior.Weight
	risk, support := rate, weight
	if m.learner != nil {
		own := float64(m.judged) / weight
		risk = own * logistic(logit(clip(m.learner.of(v.in)))+m.learner.agents[v.Agent])
		if own < 1 {
			risk += (1 - own) * m.options.Prior.Risk
		}
		support = min(weight, 4+effective(near)) / m.learner.spread
	}
	// What an input's own record says comes after what is said of all inputs, and
	// before what is said of this input in this run.
	// After a failure the tool's calls come out alike, but not all inputs do.
	lean := 0.0
	if m.learner != nil {
		lean = ownShare * (logit(clip(risk)) - logit(clip(rate)))
	}
	raise := func(of ...Rule) {
		for _, r := range of {
			if v.met.has(r) {
				rate, calls := m.rates.of(r, &m.options.Pool)
				if r >= FailedThrice {
					rate = logistic(logit(clip(rate)) + lean)
				}
				if rate > risk {
					risk, support = rate, calls
				}
			}
		}
	}
	raise(NeverWorked, FailedThrice, FailedTwice, FailedOnce, FailedChanged)
	if v.own.Calls > 0 {
		risk = posterior(risk, m.concentration, v.own)
		if m.concentration < float64(v.own.Calls) {
			support = float64(v.own.Calls) + m.concentration
		}
	}
	raise(RepeatsFailure, OnlyFailed)
	for _, t := range v.breaks {
		if r := t.Risk(); r > risk {
			risk, support = r, float64(t.Calls+t.Good)
		}
	}
	risk = clip(risk)
	a.Risk = &risk
	i := stats.WilsonShare(risk, max(1, support))
	a.RiskCI95 = *i
}

// effective is the number of calls that the near ones count for.
func effective(near []neighbour) float64 {
	var sum float64
	for _, n := range near {
		sum += n.similarity
	}
	return sum
}
