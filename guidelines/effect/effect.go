// Package effect measures whether advice helps agents, and how much, from calls alone.
// docs/effect.md defines it in words. The API, the dashboard, the command line and the digest
// show its results.
package effect

import (
	"bytes"
	"encoding/json"
	"math"

	"memoryd"
	"memoryd/internal/stats"
)

// Side is whether the run of a call got advice.
type Side int

// The sides.
const (
	Unknown Side = iota
	Told
	Untold // got none on purpose, for comparison
	Before // unknown, and older than the tool's first call whose run is known
	sides
)

// String returns the side as a word; "" if it is unknown.
func (s Side) String() string {
	return [sides]string{Told: "told", Untold: "untold", Before: "before"}[s]
}

// SideOf reads from a call's metadata whether its run got advice: from told, or from a
// guideline_version above 0, which agents send that saw one.
func SideOf(metadata json.RawMessage) Side {
	if !bytes.Contains(metadata, []byte(`"told"`)) && !bytes.Contains(metadata, []byte("guideline_version")) {
		return Unknown
	}
	var m struct {
		Told *bool `json:"told"`
	}
	_ = json.Unmarshal(metadata, &m) // what is of another type says nothing
	switch {
	case m.Told != nil && !*m.Told:
		return Untold
	case m.Told != nil || Shown(metadata) > 0:
		return Told
	}
	return Unknown
}

// Shown reads the version of the guideline that the agent of a call was shown from its metadata, a
// number or its digits as a text; 0 where it does not say.
func Shown(metadata json.RawMessage) int64 {
	var m struct {
		Version json.Number `json:"guideline_version"`
	}
	_ = json.Unmarshal(metadata, &m)
	version, _ := m.Version.Float64() // some clients send 3 as 3.0
	return int64(version)
}

// MarshalText implements encoding.TextMarshaler.
func (s Side) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Group is the judged calls of one side.
type Group struct {
	Runs int `json:"runs"`
	// Calls counts judged calls.
	Calls  int `json:"calls"`
	Failed int `json:"failed"`
	// Partial counts partial successes.
	Partial int `json:"partial"`
	// Worded counts failures and partial successes that only the wording shows: neither the call nor a
	// person or a model reports them.
	Worded int             `json:"by_wording"`
	Rate   float64         `json:"failure_rate"`
	CI95   *stats.Interval `json:"failure_rate_ci95"`

	variance [counts]float64
	rates    [counts]float64
}

// The ways to count failures. What a judge makes of wording is no fact: a partial success
// may be a failure, and for each failure that is found by wording one may be missed, which
// is the least that was found on tools in nine styles of answering.
const (
	certain  = iota // failures as they are judged
	partials        // and partial successes
	missed          // and as many again as were found by wording
	counts
)

// Range is an estimate with its 95 % interval.
type Range struct {
	Low  float64 `json:"low"`
	Best float64 `json:"best"`
	High float64 `json:"high"`
}

// The bases of comparison.
const (
	heldOut     = "held_out"     // runs without advice on purpose, at the same time
	beforeAfter = "before_after" // calls before any run got advice: an estimate
	notEnough   = "not_enough"
)

// Effect compares runs that got advice with others.
type Effect struct {
	// Basis says what `told` is compared with: the control group, calls from before the first advice
	// (an estimate), or nothing yet, and then the rest is 0.
	Basis  string `json:"basis" enum:"held_out,before_after,not_enough"`
	Told   Group  `json:"told"`
	Untold Group  `json:"untold"`
	Before Group  `json:"before"`
	// Less is the reduction of the failure rate in runs that got advice.
	Less Range `json:"less"`
	// Avoided is the number of avoided failed calls.
	Avoided Range `json:"failures_avoided"`
	// What those would have cost.
	Seconds Range `json:"seconds_saved"`
	Tokens  Range `json:"tokens_saved"`
}

// What each side needs before it is compared.
const (
	leastRuns     = 8
	leastCalls    = 30
	leastFailures = 8 // of both together
)

// Counts are the judged calls of tools, by side and run.
type Counts struct {
	runs map[runOf]run
	// Of failed calls that know them.
	seconds, tokens, timed, counted float64
}

type runOf struct {
	side Side
	name string
}

type run struct{ calls, failed, partial, worded int }

// Count counts the calls of a tool, newest first.
func Count(calls []memoryd.Call) *Counts {
	c := &Counts{runs: map[runOf]run{}}
	at := make([]Side, len(calls))
	first := -1
	for i := range calls {
		if at[i] = SideOf(calls[i].Metadata); at[i] != Unknown {
			first = i
		}
	}
	if first < 0 {
		return c
	}
	for i := range calls {
		if at[i] == Unknown && i > first {
			at[i] = Before
		}
		if at[i] != Unknown {
			c.add(&calls[i], at[i])
		}
	}
	return c
}

func (c *Counts) add(call *memoryd.Call, side Side) {
	name, e := call.Run(), &call.Evaluation
	if e.State != memoryd.Judged || name == "" {
		return
	}
	of := runOf{side, name}
	r := c.runs[of]
	r.calls++
	if !e.Good() && worded(e) {
		r.worded++
	}
	switch {
	case e.Partial():
		r.partial++
	case e.Bad():
		r.failed++
		if stats.KnownTime(call.TimeCost) {
			c.seconds, c.timed = c.seconds+call.TimeCost, c.timed+1
		}
		if stats.KnownTokens(call.TokenCost) {
			c.tokens, c.counted = c.tokens+float64(call.TokenCost), c.counted+1
		}
	}
	c.runs[of] = r
}

// worded reports whether a verdict rests on the wording of an output: neither the call
// itself nor a person or a model says how it went.
func worded(e *memoryd.Evaluation) bool {
	byRules := e.JudgedBy == memoryd.JudgedByRules || e.JudgedBy == memoryd.JudgedByCache
	return byRules && !e.Reported()
}

// Add adds the calls of another tool. Its earlier calls are left out if no run got advice
// about it since, because that would compare other tools.
func (c *Counts) Add(o *Counts) {
	if c.runs == nil {
		c.runs = map[runOf]run{}
	}
	told := o.group(Told).Runs > 0
	for of, r := range o.runs {
		if of.side == Before && !told {
			continue
		}
		sum := c.runs[of]
		c.runs[of] = run{sum.calls + r.calls, sum.failed + r.failed, sum.partial + r.partial, sum.worded + r.worded}
	}
	c.seconds, c.timed, c.tokens, c.counted = c.seconds+o.seconds, c.timed+o.timed, c.tokens+o.tokens, c.counted+o.counted
}

// Effect compares.
func (c *Counts) Effect() Effect {
	e := Effect{Told: c.group(Told), Untold: c.group(Untold), Before: c.group(Before), Basis: notEnough}
	var other *Group
	switch {
	case !e.Told.enough():
		return e
	case e.Untold.enough():
		e.Basis, other = heldOut, &e.Untold
	case e.Before.enough():
		e.Basis, other = beforeAfter, &e.Before
	default:
		return e
	}
	if e.Told.Failed+e.Told.Partial+other.Failed+other.Partial < leastFailures {
		e.Basis = notEnough
		return e
	}
	e.Less = Range{Low: 1, High: -1}
	least, most := 1.0, -1.0
	for k := range counts {
		less := other.rates[k] - e.Told.rates[k]
		reach := stats.StudentT975(min(e.Told.Runs, other.Runs)-1) * math.Sqrt(e.Told.variance[k]+other.variance[k])
		e.Less.Low, e.Less.High = max(-1, min(e.Less.Low, less-reach)), min(1, max(e.Less.High, less+reach))
		least, most = min(least, less), max(most, less)
	}
	e.Less.Best = (least + most) / 2
	e.Avoided = e.Less.times(float64(e.Told.Calls))
	if c.timed > 0 {
		e.Seconds = e.Avoided.times(c.seconds / c.timed)
	}
	if c.counted > 0 {
		e.Tokens = e.Avoided.times(c.tokens / c.counted)
	}
	return e
}

func (r Range) times(f float64) Range { return Range{r.Low * f, r.Best * f, r.High * f} }

func (g *Group) enough() bool { return g.Runs >= leastRuns && g.Calls >= leastCalls }

// group sums the runs of a side up.
func (c *Counts) group(side Side) (g Group) {
	var runs []run
	for of, r := range c.runs {
		if of.side != side {
			continue
		}
		runs = append(runs, r)
		g.Runs, g.Calls, g.Failed = g.Runs+1, g.Calls+r.calls, g.Failed+r.failed
		g.Partial, g.Worded = g.Partial+r.partial, g.Worded+r.worded
	}
	if g.Calls == 0 {
		return g
	}
	n := float64(g.Calls)
	again := 0.0 // of each that was found by wording: no more than there are calls
	if g.Worded > 0 {
		again = min(1, float64(g.Calls-g.Failed-g.Partial)/float64(g.Worded))
	}
	for k := range counts {
		count := func(r run) float64 {
			return [counts]float64{float64(r.failed), float64(r.failed + r.partial), float64(r.failed+r.partial) + again*float64(r.worded)}[k]
		}
		g.rates[k], g.variance[k] = clustered(runs, n, count)
	}
	g.Rate = g.rates[certain]
	reach := stats.StudentT975(g.Runs-1) * math.Sqrt(g.variance[certain])
	g.CI95 = &stats.Interval{max(0, g.Rate-reach), min(1, g.Rate+reach)}
	return g
}

// clustered gives the rate of what is counted in runs of n calls together, and its
// variance. Calls of one run depend on each other, so that it is that of a ratio estimated
// from clusters (Cochran, Sampling Techniques, section 6.3), and no less than that of as
// many independent calls with two successes and two failures more (Agresti and Coull 1998).
func clustered(runs []run, n float64, count func(run) float64) (rate, variance float64) {
	sum, squares := 0.0, 0.0
	for _, r := range runs {
		sum += count(r)
	}
	rate = sum / n
	for _, r := range runs {
		d := count(r) - rate*float64(r.calls)
		squares += d * d
	}
	p := (sum + 2) / (n + 4)
	variance = p * (1 - p) / (n + 4)
	if k := float64(len(runs)); k > 1 {
		variance = max(variance, k/(k-1)*squares/(n*n))
	}
	return rate, variance
}
