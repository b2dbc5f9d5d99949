// Package effect says whether it helps agents to be told what is known of tools, and how
// much, by calls alone. docs/effect.md has the definition in words; the API, the
// dashboard, the command line and the digest show what is computed here.
package effect

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"

	"memoryd"
	"memoryd/internal/stats"
)

// Side is what the run of a call was told.
type Side int

// The sides.
const (
	Unknown Side = iota
	Told
	Untold // on purpose, to compare with
	Before // unknown, and older than the first call of the tool whose run is known
	sides
)

// String says the side in a word, "" where it is unknown.
func (s Side) String() string {
	switch s {
	case Told:
		return "told"
	case Untold:
		return "untold"
	case Before:
		return "before"
	case Unknown, sides:
	}
	return ""
}

// SideOf reads what the run of a call was told from its metadata: told, or a
// guideline_version above 0, which an agent gives that was shown one.
func SideOf(metadata json.RawMessage) Side {
	if !bytes.Contains(metadata, []byte(`"told"`)) && !bytes.Contains(metadata, []byte("guideline_version")) {
		return Unknown
	}
	var m struct {
		Told    *bool       `json:"told"`
		Version json.Number `json:"guideline_version"`
	}
	_ = json.Unmarshal(metadata, &m) // what is of another type says nothing
	version, _ := m.Version.Float64()
	switch {
	case m.Told != nil && !*m.Told:
		return Untold
	case m.Told != nil || version > 0:
		return Told
	}
	return Unknown
}

// Group is the judged calls of one side.
type Group struct {
	Runs   int             `json:"runs"`
	Calls  int             `json:"calls"`
	Failed int             `json:"failed"`
	Rate   float64         `json:"failure_rate"`
	CI95   *stats.Interval `json:"failure_rate_ci95"`

	variance float64
}

// Range is an estimate with its 95 % interval.
type Range struct {
	Low  float64 `json:"low"`
	Best float64 `json:"best"`
	High float64 `json:"high"`
}

// The bases of an effect.
const (
	HeldOut     = "held_out"     // runs that were told nothing on purpose, at the same time
	BeforeAfter = "before_after" // calls before any run was told: an estimate
	NotEnough   = "not_enough"
)

// Effect is how runs that were told compare with others.
type Effect struct {
	Told   Group `json:"told"`
	Untold Group `json:"untold"`
	Before Group `json:"before"`
	// Basis says what Told is compared with; with NotEnough, the rest is 0.
	Basis string `json:"basis"`
	// Less is by how much the failure rate is lower where runs were told.
	Less Range `json:"less"`
	// Avoided are failed calls, Seconds and Tokens what these would have taken.
	Avoided Range `json:"failures_avoided"`
	Seconds Range `json:"seconds_saved"`
	Tokens  Range `json:"tokens_saved"`
}

// What each side needs before it is compared.
const (
	leastRuns  = 8
	leastCalls = 30
)

// Counts are the judged calls of tools, by side and run.
type Counts struct {
	runs [sides]map[string]run
	// Of failed calls that know them.
	seconds, tokens, timed, counted float64
}

type run struct{ calls, failed int }

// Count counts the calls of a tool, which stand newest first.
func Count(calls []memoryd.Call) *Counts {
	c := &Counts{}
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
	name := call.Run()
	if call.Evaluation.State != memoryd.Judged || name == "" {
		return
	}
	if c.runs[side] == nil {
		c.runs[side] = map[string]run{}
	}
	r := c.runs[side][name]
	r.calls++
	if call.Evaluation.Score <= memoryd.ScoreFailure {
		r.failed++
		if stats.KnownTime(call.TimeCost) {
			c.seconds, c.timed = c.seconds+call.TimeCost, c.timed+1
		}
		if stats.KnownTokens(call.TokenCost) {
			c.tokens, c.counted = c.tokens+float64(call.TokenCost), c.counted+1
		}
	}
	c.runs[side][name] = r
}

// Add adds the calls of another tool. What it did before is left out where no run was
// told of it since: that would compare other tools.
func (c *Counts) Add(o *Counts) {
	for side := range o.runs {
		if Side(side) == Before && len(o.runs[Told]) == 0 {
			continue
		}
		for name, r := range o.runs[side] {
			if c.runs[side] == nil {
				c.runs[side] = map[string]run{}
			}
			sum := c.runs[side][name]
			c.runs[side][name] = run{sum.calls + r.calls, sum.failed + r.failed}
		}
	}
	c.seconds, c.timed, c.tokens, c.counted = c.seconds+o.seconds, c.timed+o.timed, c.tokens+o.tokens, c.counted+o.counted
}

// Effect compares.
func (c *Counts) Effect() Effect {
	e := Effect{Told: groupOf(c.runs[Told]), Untold: groupOf(c.runs[Untold]), Before: groupOf(c.runs[Before]), Basis: NotEnough}
	var other *Group
	switch {
	case !e.Told.enough():
		return e
	case e.Untold.enough():
		e.Basis, other = HeldOut, &e.Untold
	case e.Before.enough():
		e.Basis, other = BeforeAfter, &e.Before
	default:
		return e
	}
	less := other.Rate - e.Told.Rate
	reach := quantile(min(e.Told.Runs, other.Runs)-1) * math.Sqrt(e.Told.variance+other.variance)
	e.Less = Range{max(-1, less-reach), less, min(1, less+reach)}
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

// groupOf sums runs up. Calls of one run depend on each other, so that the variance of
// the rate is that of a ratio estimated from clusters (Cochran, Sampling Techniques,
// section 6.3), and no less than that of as many independent calls with two successes and
// two failures more (Agresti and Coull 1998).
func groupOf(runs map[string]run) (g Group) {
	for r := range maps.Values(runs) {
		g.Runs, g.Calls, g.Failed = g.Runs+1, g.Calls+r.calls, g.Failed+r.failed
	}
	if g.Calls == 0 {
		return g
	}
	n := float64(g.Calls)
	g.Rate = float64(g.Failed) / n
	squares := 0.0
	for r := range maps.Values(runs) {
		d := float64(r.failed) - g.Rate*float64(r.calls)
		squares += d * d
	}
	p := (float64(g.Failed) + 2) / (n + 4)
	g.variance = p * (1 - p) / (n + 4)
	if k := float64(g.Runs); k > 1 {
		g.variance = max(g.variance, k/(k-1)*squares/(n*n))
	}
	reach := quantile(g.Runs-1) * math.Sqrt(g.variance)
	g.CI95 = &stats.Interval{max(0, g.Rate-reach), min(1, g.Rate+reach)}
	return g
}

// quantile is the .975 quantile of Student's t, by the expansion of Cornish and Fisher.
func quantile(freedom int) float64 {
	const z = 1.959964
	n := float64(max(freedom, 1))
	return z + (z*z*z+z)/(4*n) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*n*n)
}
