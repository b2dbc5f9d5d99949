package guidelines

import (
	_ "embed"
	"slices"
	"strings"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// The quorum that what a tool says needs to stand in a guideline, its words as a
// quote and the numbers, values and names in them as parts of an advice: so many
// calls, of so many runs, and of two agents where several are known. Below it the
// class of the message is named; the statement in full is pending until the quorum
// is met or a person releases it.
const (
	quorumCalls = 3
	quorumRuns  = 2
)

// quorate reports whether what so many calls and runs of a cause say meets the quorum.
func (f *findings) quorate(c *evidence.Cause, calls, runs int) bool {
	return calls >= quorumCalls && runs >= quorumRuns && (c.Agents != 1 || f.agents < 2)
}

//go:embed neutral.txt
var neutralWords string

// neutral reports whether a quote consists of words that errors are told with and of
// names of the callers. No order can be given with them, so two calls are enough.
func (f *findings) neutral(quote string) bool {
	for _, w := range wordForm.FindAllString(quote, -1) {
		if w = strings.ToLower(w); !containsWord(neutralWords, w) && !f.callersName(w) {
			return false
		}
	}
	return strings.IndexFunc(quote, func(c rune) bool { return c >= 0x80 && c != '…' }) < 0
}

// callersName reports whether a word is a part of the tool's name or of a parameter
// of good calls.
func (f *findings) callersName(w string) bool {
	has := func(name string) bool {
		return slices.Contains(strings.FieldsFunc(strings.ToLower(name), func(c rune) bool { return c < 'a' || c > 'z' }), w)
	}
	return has(f.tool.Tool) || slices.ContainsFunc(f.evidence.Parameters, func(p evidence.Parameter) bool { return p.Good > 0 && has(p.Path) })
}

// bare is a constraint without what its message filled in: numbers, values and names
// that are not the callers'.
func bare(c constraints.Constraint) constraints.Constraint {
	c.Op, c.Bound, c.Values, c.Slot, c.Format, c.Unit = "", 0, nil, "", "", ""
	return c
}
