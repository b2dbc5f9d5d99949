// Package rules finds what failed calls of a tool have in common that good ones do not.
// Hypotheses are cheap: conditions on the input, on where its values came from, on what an
// earlier answer of the run said about them, or on which tools were called before. Calls
// decide about them. No word of any message is interpreted: numbers, names and forms in
// messages only narrow a condition that calls support.
//
// One Rule has three uses. Line is the text for a guideline. Holds reports whether a planned
// call breaks it, which is a warning. Mend changes the call so that it does not, which is a
// suggestion.
package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"iter"
	"maps"
	"strconv"
	"strings"

	"memoryd"
)

// Call is the part of a judged call that is compared.
type Call struct {
	Key   memoryd.CallKey
	Input json.RawMessage
	// Leaves are the values of the input, if they are read already.
	Leaves []Leaf
	Seen
	// Message is the output's message if the call went wrong, and Bad reports that it did.
	Message string
	Bad     bool
	// Failed reports that it scored 0, Empty that it found nothing.
	Failed, Empty bool
	// Seconds and Tokens are its cost; 0 or less means unknown.
	Seconds float64
	Tokens  int64
	// Odd reports that it counts as bad only because its answer has another form than the
	// tool's others.
	Odd bool
	// Run and Source are the numbers of its run and of its recorder; 0 means unknown. Named
	// reports that the call itself named its run.
	Run, Source uint64
	Named       bool
	// Party is who counts as independent of others: its recorder where several are known, else
	// the agent that it names. Shared reports that several recorders are known, though one alone
	// may use this tool.
	Party  uint64
	Shared bool
}

// Seen is what was seen of a call while its whole input and its run were at hand. It is stored.
type Seen struct {
	// Sizes are the properties of the input, as "title#length", that it no longer shows since it
	// was cut.
	Sizes map[string]float64 `json:"z,omitempty"`
	// Same is equal for equal inputs, also where they were cut; 0 means unknown.
	Same uint64 `json:"h,omitzero"`
	// Turn is which call of the tool in its run it is, from 1; 0 means unknown. Pause is how many
	// seconds after the one before it was made; less than 0 means unknown.
	Turn  int     `json:"e,omitzero"`
	Pause float64 `json:"f,omitzero"`
	// Sources show where the identifiers of the input were seen before in the run.
	Sources []Source `json:"p,omitempty"`
	// Before are the tools that had answered well before in the run, in the order of their first
	// answer.
	Before []string `json:"d,omitempty"`
	// Last says in which tools good calls of the run used the values of the input last; those that
	// it does not name, in none.
	Last []Used `json:"l,omitempty"`
	// Newest are the places in Before of tools in the order of their last good answers, the newest
	// first. Where it is empty and Before is not, it and Last are unknown.
	Newest []uint8 `json:"b,omitempty"`
	// Again reports that the run made the same call before, and it worked.
	Again bool `json:"ag,omitzero"`
	// World reports that it was compared with what the workspace knew: else Strange and Taken are unknown.
	World bool `json:"wo,omitzero"`
	// Strange are the parameters whose values no good call of the workspace had used, nor any answer shown.
	Strange []string `json:"st,omitempty"`
	// Taken are the parameters whose values a good call of the tool gave before, in any run.
	Taken []string `json:"tk,omitempty"`
	// Fresh are the words of the texts of the input that the run did not know yet.
	Fresh []Fresh `json:"fw,omitempty"`
}

// Source is the place in the run where a value of the input was seen before.
type Source struct {
	Path string `json:"p"`
	// Tool is the tool whose answer had the value first; "" if no answer of the run did.
	Tool string `json:"t,omitempty"`
	// State is what the newest answer had beside the value, as "status=open", separated by
	// blanks.
	State string `json:"s,omitempty"`
	// Old reports that the tool that showed the value last has answered since without it.
	Old bool `json:"o,omitzero"`
}

// Used is in which tool the value of a parameter was used last, as "tool parameter": as the same
// parameter where it was used so, else as any.
type Used struct {
	Path string `json:"p"`
	In   string `json:"u"` // "" where an old observation does not say; those have a list under "t"
}

// Effect is what the condition of a rule leads to.
type Effect string

// The effects.
const (
	Wrong  Effect = ""       // calls failed, partly failed, or had an unusual answer
	Slow   Effect = "slow"   // good calls took long
	Costly Effect = "costly" // good calls took many tokens
)

// Rule is a condition under which calls of a tool went wrong, and that hardly any good call
// met.
type Rule struct {
	when   hypothesis
	Effect Effect `json:"effect,omitempty"`
	// Line is what to do, without the counts.
	Line string `json:"line"`
	// Parameter is what the rule is about; "" for the order of calls.
	Parameter string `json:"-"`
	// Calls went wrong under the condition, in Runs runs; Good succeeded nevertheless. Runs
	// is 0 if the calls name none.
	Calls int `json:"calls"`
	Runs  int `json:"runs"`
	Good  int `json:"good"`
	// Failed counts those that scored 0, and Empty those that found nothing.
	Failed int `json:"failed"`
	Empty  int `json:"empty,omitempty"`
	// Odd counts those that no judge rejected, but whose answers have another form than the
	// tool's others.
	Odd int `json:"odd,omitempty"`
	// With and Otherwise are the median costs of calls with and without the condition, for an
	// effect on costs.
	With      float64 `json:"with,omitempty"`
	Otherwise float64 `json:"otherwise,omitempty"`
	// Told reports that too few calls went well to hold it against: those that heed it were
	// answered otherwise.
	Told bool `json:"told,omitempty"`
	// Behind are the indexes of the calls that went wrong, oldest first, and Keys their keys.
	Behind []int             `json:"-"`
	Keys   []memoryd.CallKey `json:"-"`
	// Source is who made the calls behind a hint.
	Source uint64 `json:"-"`
	// edge is the number nearest to the bound that failed, where no message told the bound; of
	// a step the greatest divisor of it that a failed number had.
	edge *float64
	// doubts counts the calls that went on to fail in the same way without breaking the rule, as those do that heed it after
	// the tool has changed. From one on it changes no call.
	doubts int
	// against counts the good calls in a row that met the condition, up to the newest.
	against int
	// refused are the values that calls behind it gave.
	refused map[string]bool
	// closed reports that new values of the parameter mostly failed.
	closed bool
	// untried are the parameters that good calls gave, and no call behind it: what one of them
	// changes, the calls do not tell.
	untried []string
	// worked is the state in which values of good calls stood most, or how they begin.
	worked string
	// kinds are the kinds of failure of the calls behind it.
	kinds map[string]bool
	// chance is how many such rules chance alone would bring about in one kind of failure.
	chance float64
	// pool are the values that Mend may put in: each worked in enough calls.
	pool map[string][]value
}

// ID identifies what the rule is about; it stays the same while the numbers change.
func (r *Rule) ID() string {
	h := &r.when
	about := []string{h.what.String(), h.p, h.q, h.tool, h.where, h.value}
	if h.not {
		about = append(about, "not")
	}
	return strings.TrimLeft(string(r.Effect)+" ", " ") + strings.TrimRight(strings.Join(about, " "), " ")
}

// GroundID is the ID in a form for links.
func (r *Rule) GroundID() string {
	sum := sha256.Sum256([]byte(r.ID() + " " + strings.Join(r.valueOf(), " ")))
	return "rule-" + hex.EncodeToString(sum[:5])
}

// valueOf is the one value that a rule is about, where there can be several rules of its
// kind on a parameter.
func (r *Rule) valueOf() []string {
	switch r.when.what {
	case is, lastIs, inState, begins, beginsNot, says, exceeds, marked, notAgain:
		return r.when.set
	default:
		return nil
	}
}

// Planned is a planned call, parsed once.
type Planned struct{ row row }

// Risk is the expected share of calls that score 0 among those that break the rule.
func (r *Rule) Risk() float64 { return (float64(r.Failed) + 0.5) / float64(r.Calls+r.Good+1) }

// Found returns what the calls showed, as in "otherwise 5 of 5 went wrong (3 runs)".
func (r *Rule) Found() string {
	did := "went wrong"
	switch {
	case 2*r.Odd > r.Calls:
		did = "were answered with a line of text, not JSON"
	case r.Empty == r.Calls:
		did = "found nothing"
	case r.Failed+r.Odd == 0:
		did = "only half succeeded"
	}
	switch r.Effect {
	case Slow:
		return "otherwise " + strconv.Itoa(r.Calls) + " good calls took " + short(r.With) + " s, the others " +
			short(r.Otherwise) + " s (medians)"
	case Costly:
		return "otherwise " + strconv.Itoa(r.Calls) + " good calls took " + short(r.With) + " tokens, the others " +
			short(r.Otherwise) + " (medians)"
	case Wrong:
		if r.Told {
			return strconv.Itoa(r.Calls) + " calls were refused for this" + r.inRuns()
		}
		if r.Heard() {
			return strconv.Itoa(r.Calls) + " calls failed for this" + r.inRuns()
		}
	}
	text := "otherwise " + strconv.Itoa(r.Calls) + " of " + strconv.Itoa(r.Calls+r.Good) + " " + did
	return text + r.inRuns()
}

// inRuns says in how many runs; "" where that is not known.
func (r *Rule) inRuns() string {
	if r.Runs == 0 {
		return ""
	}
	return " (" + strconv.Itoa(r.Runs) + plural(" run", float64(r.Runs)) + ")"
}

// Plan parses a planned call.
func Plan(c *Call) *Planned {
	p := &Planned{}
	p.row.read(c)
	return p
}

// Holds reports whether a planned call meets the condition of the rule. Between successful
// and failed values, the nearer one counts.
func (r *Rule) Holds(p *Planned) bool {
	if p.row.in == nil {
		return false
	}
	v, meets := r.when.given(&p.row)
	return meets && (r.edge == nil || beyond(r.when.what, v.num, r.when.bound, *r.edge))
}

// Refuses reports whether the rule advises against a value of a parameter, whatever else a
// call gives.
func (r *Rule) Refuses(path, given string, numeric bool) bool {
	v := value{kind: text, text: given}
	if f, err := strconv.ParseFloat(given, 64); numeric && err == nil {
		v = value{kind: number, num: f, text: plain(f)}
	}
	one := row{Call: &Call{}, in: map[string]value{path: v}}
	one.elements = map[string][]row{listOf(path): {one}}
	return r.when.p == path && r.when.q == "" && r.when.holds(&one)
}

// beyond reports whether a number is nearer to one that failed than to the bound of those
// that worked, or on the far side of it; of a step, that it has no greater divisor in common
// with it than one that failed.
func beyond(w what, v, bound, edge float64) bool {
	switch w {
	case below:
		return v <= (bound+edge)/2
	case offStep:
		return divisor(v, bound) <= edge
	default:
	}
	return v >= (bound+edge)/2
}

// Against counts the consecutive good calls, up to the newest, that speak against it: among
// the calls that the rule was found in, and among newer ones, oldest first. newer says which
// of those met it.
func (r *Rule) Against(newer []bool) int {
	n := r.against
	for _, good := range newer {
		if n++; !good {
			n = 0
		}
	}
	return n
}

// About reports whether the rule is about a property of the run's earlier answers. Then it
// can be checked only if the run is known.
func (r *Rule) About() bool {
	switch r.when.what {
	case unseen, nowhere, taken, outdated, inState, notBefore, notAgain, exceeds, lastIs, lastNotIn, unknown, again:
		return true
	default:
		return false
	}
}

// Doubtful reports that calls which heeded the rule failed in the same way: then it warns of none.
func (r *Rule) Doubtful() bool { return r.doubts >= leastBad }

// Portable reports whether the rule is about the value of one parameter, whatever else a call gives: then it may hold
// for another tool that has the parameter.
func (r *Rule) Portable() bool {
	h := &r.when
	alone := h.p != "" && r.Parameter != "" && !h.paired() && h.where == ""
	return alone && r.Effect == Wrong && !r.Doubtful() && (!r.About() || h.what == nowhere)
}

// Parameters are those that a planned call gives, and their properties.
func (p *Planned) Parameters() iter.Seq[string] { return maps.Keys(p.row.in) }

// MaxBefore is how many tools Before has at most.
const MaxBefore = 16

// Compared is how many of the newest calls are compared.
const Compared = 400

// Limits on what is tested and published.
const (
	leastBad       = 2    // calls that went wrong under a condition
	minCalls       = 3    // that gave a value which is shown
	minRuns        = 2    // of them, and of good calls
	minGood        = 3    // good calls that a condition is held against
	maxWrong       = 0.03 // share of the good calls that may meet a condition
	maxOfKind      = 3    // rules for one kind of failure
	maxRules       = 10
	sourceShare    = 20 // calls of one source that count for a rule, where there are several
	falseDiscovery = 0.1
	rarer          = 10   // how much rarer a rule on how a value is written is than one on the value
	messageShare   = 0.05 // what it counts for that a message names the parameter, beside the share of calls
)
