// Package rules finds what calls of a tool that went wrong have in common that good ones
// have not. A hypothesis is cheap: it is a condition on the input, on where its values
// came from, on what an earlier answer of the run said of them, or on what was called
// before. Calls decide about it. No word of any message is read: the numbers, names and
// forms that stand in messages only narrow a condition that calls vouch for.
//
// One Rule has three uses: Line is what a guideline says, Holds tells whether a planned
// call breaks it, which is a warning, and Mend changes the call so that it does not,
// which is a suggestion.
package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
)

// Call is what is compared of a judged call.
type Call struct {
	Input json.RawMessage
	// Message is what the output of a call that went wrong says, Bad that it did.
	Message string
	Bad     bool
	// Failed says that it scored 0.
	Failed bool
	// Seconds and Tokens are what it cost; not above 0: unknown.
	Seconds float64
	Tokens  int64
	// Odd says that it counts as bad only since its answer is of another form than
	// the tool's others.
	Odd bool
	// Run and Source number the run of the call and who recorded it; 0: unknown. Named
	// says that the call itself named its run.
	Run, Source uint64
	Named       bool
	// Before are the tools that had answered in the run.
	Before []string
	// Sources say where the values of the input that are like identifiers stood before.
	Sources []Source
}

// Source is the place in the run where a value of an input stood before.
type Source struct {
	Path string `json:"p"`
	// Tool is the tool whose answer held the value first; "" when no answer of the run
	// did.
	Tool string `json:"t,omitempty"`
	// State is what the newest answer said of the value beside it, as "status=open",
	// parted by blanks.
	State string `json:"s,omitempty"`
}

// Effect is what goes with the condition of a rule.
type Effect string

// The effects.
const (
	Wrong  Effect = ""       // calls failed, half failed, or had an odd answer
	Slow   Effect = "slow"   // good calls took long
	Costly Effect = "costly" // good calls took many tokens
)

// Rule is a condition under which calls of a tool went wrong and hardly a good one did.
type Rule struct {
	when   hypothesis
	Effect Effect
	// With and Otherwise are the medians of what calls cost under the condition and
	// without it, of an effect on costs.
	With, Otherwise float64
	// Line says what to do, without its counts.
	Line string
	// Parameter is what the rule is about, "" for the order of calls.
	Parameter string
	// Calls went wrong under the condition, in Runs; Good went well nevertheless.
	// Runs is 0 where calls name none.
	Calls, Runs, Good int
	// Failed counts the calls among them that scored 0.
	Failed int
	// Odd counts the calls among them that no judge found wrong: their answers are of
	// another form than the tool's others.
	Odd int
	// Behind are the places of those that went wrong, oldest first.
	Behind []int
	// edge is the number nearest to the bound that failed, where no message told the bound.
	edge *float64
	// doubtful says that calls went on to fail in the same way without breaking the rule:
	// then it changes none.
	doubtful bool
	// against counts the good calls in a row that met the condition, up to the newest.
	against int
	// refused are the values that calls behind it gave.
	refused map[string]bool
	// worked is the state in which values of good calls stood most, or how they begin.
	worked string
	// chance is how many such rules chance alone would bring about in one kind of failure.
	chance float64
	// pool are the values that Mend may put in: each worked in enough calls.
	pool map[string][]value
}

// ID names what the rule is about; it stays while its numbers change.
func (r *Rule) ID() string {
	return strings.TrimLeft(string(r.Effect)+" ", " ") + strings.TrimRight(strings.Join([]string{r.when.what.String(), r.when.p, r.when.q, r.when.tool}, " "), " ")
}

// GroundID is the ID in a form for links.
func (r *Rule) GroundID() string {
	sum := sha256.Sum256([]byte(r.ID() + " " + strings.Join(r.valueOf(), " ")))
	return "rule-" + hex.EncodeToString(sum[:5])
}

// valueOf is the one value that a rule is about, where there can be several rules of its
// kind on a parameter.
func (r *Rule) valueOf() []string {
	if w := r.when.what; w == is || w == inState || w == begins || w == says || w == exceeds {
		return r.when.set
	}
	return nil
}

// Planned is a call that is about to be made, read once.
type Planned struct{ row row }

// Risk is how often a call that breaks the rule is to be expected to score 0.
func (r *Rule) Risk() float64 { return (float64(r.Failed) + 0.5) / float64(r.Calls+r.Good+1) }

// Found says what the calls showed, as "otherwise 5 of 5 went wrong (3 runs)".
func (r *Rule) Found() string {
	did := "went wrong"
	if 2*r.Odd > r.Calls {
		did = "had an answer of another form"
	}
	switch r.Effect {
	case Slow:
		return "otherwise " + strconv.Itoa(r.Calls) + " good calls took " + short(r.With) + " s, the others " + short(r.Otherwise) + " s (medians)"
	case Costly:
		return "otherwise " + strconv.Itoa(r.Calls) + " good calls took " + short(r.With) + " tokens, the others " + short(r.Otherwise) + " (medians)"
	case Wrong:
		if r.Heard() {
			return r.heardBy()
		}
	}
	text := "otherwise " + strconv.Itoa(r.Calls) + " of " + strconv.Itoa(r.Calls+r.Good) + " " + did
	if r.Runs > 0 {
		text += " (" + strconv.Itoa(r.Runs) + " runs)"
	}
	return text
}

// Plan reads a planned call.
func Plan(c *Call) *Planned {
	p := &Planned{}
	p.row.read(c)
	return p
}

// Holds reports whether a planned call meets the condition of the rule. Between what
// worked and what failed the nearer counts.
func (r *Rule) Holds(p *Planned) bool {
	if p.row.in == nil || !r.when.holds(&p.row) {
		return false
	}
	return r.edge == nil || beyond(r.when.what, p.row.in[r.when.p].num, r.when.bound, *r.edge)
}

// beyond reports whether a number is nearer to one that failed than to the bound of those
// that worked, or on the far side of it.
func beyond(w what, v, bound, edge float64) bool {
	if w == below {
		return v <= (bound+edge)/2
	}
	return v >= (bound+edge)/2
}

// Against counts the good calls in a row, up to the newest, that met the condition: of
// those that the rule was found in and of newer ones, in which good and bad ones met it as
// newer says, oldest first.
func (r *Rule) Against(newer []bool) int {
	n := r.against
	for _, good := range newer {
		if n++; !good {
			n = 0
		}
	}
	return n
}

// About reports whether the rule is about a property of the run's earlier answers: then
// it can only be told where the run is known.
func (r *Rule) About() bool {
	return r.when.what == unseen || r.when.what == inState || r.when.what == notBefore || r.when.what == exceeds
}

// Limits on what is tested and published.
const (
	leastBad       = 2    // calls that went wrong under a condition
	minCalls       = 3    // that gave a value which is shown
	minRuns        = 2    // of them, and of good calls
	minGood        = 3    // good calls that a condition is held against
	maxWrong       = 0.03 // share of the good calls that may meet a condition
	maxFresh       = 0.1  // of the newer good calls, the share that a condition fitted on the older ones may meet
	maxCalls       = 400  // the newest are compared
	maxOfKind      = 3    // rules for one kind of failure
	maxRules       = 10
	sourceShare    = 20 // calls of one source that count for a rule, where there are several
	falseDiscovery = 0.1
	messageShare   = 0.05 // what it counts for that a message names the parameter, beside the share of calls
)
