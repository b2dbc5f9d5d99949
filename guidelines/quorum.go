package guidelines

import (
	_ "embed"
	"regexp"
	"slices"
	"strings"

	"memoryd/guidelines/evidence"
)

// The quorum that what a tool says needs to stand in a guideline, its words as a
// quote and the numbers, values and names in them as parts of an advice: so many
// calls, of so many runs, and of two parties where several are known: API keys or, where
// one key recorded everything, agents. Below it the
// class of the message is named; the statement in full is pending until the quorum
// is met or a person releases it.
const (
	quorumCalls = 3
	quorumRuns  = 2
)

// quorate reports whether what stands behind something meets the quorum.
func quorate(s evidence.Support) bool {
	return s.Calls >= quorumCalls && s.Runs >= quorumRuns && !s.Sole
}

//go:embed neutral.txt
var neutralWords string

var wordForm = regexp.MustCompile(`[A-Za-z]+(?:'[a-z]+)?`)

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

// containsWord reports whether a word stands in a list with blanks between them.
func containsWord(list, w string) bool {
	for rest := list; ; {
		at := strings.Index(rest, w)
		if at < 0 {
			return false
		}
		end := at + len(w)
		if (at == 0 || rest[at-1] <= ' ') && (end == len(rest) || rest[end] <= ' ') {
			return true
		}
		rest = rest[end:]
	}
}
