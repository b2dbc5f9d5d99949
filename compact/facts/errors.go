package facts

import (
	"strings"

	"memoryd/internal/textsafe"
)

// maxErrorLine bounds an error line in bytes.
const maxErrorLine = 110

// errorLines takes the lines of a tool's output that report a failure, at most
// four of one output.
func (s *Set) errorLines(sp *Span) {
	words := errorWordsOf(sp.Text)
	if len(words) == 0 {
		return
	}
	taken, name := 0, label{text: "error"}
	for line := range strings.Lines(sp.Text) {
		if len(line) > 4000 {
			line = line[:4000]
		}
		at := errorAt(line, words)
		if at < 0 {
			continue
		}
		v := line[max(0, at-40):]
		if at <= 40 {
			v = line
		} else if k := strings.IndexByte(v, ' '); k >= 0 && k < 40 {
			v = v[k+1:]
		}
		v = strings.TrimSpace(textsafe.Head(strings.TrimSpace(v), maxErrorLine))
		if strings.ContainsAny(v, "\x00\\") || len(v) < 8 {
			continue
		}
		s.add(v, &name, false, false, errText, sp)
		if taken++; taken == 4 {
			return
		}
	}
}

// errorWords mark a line that reports a failure.
//
//nolint:gochecknoglobals // a constant table
var errorWords = []string{"Error", "error:", "ERROR", "Exception", "Traceback", "failed", "FAILED", "denied", "refused", "not found", "No such file"}

// errorWordsOf lists those that stand anywhere in a text, so that its lines need
// not be searched for the others.
func errorWordsOf(text string) []string {
	var words []string
	for _, w := range errorWords {
		if strings.Contains(text, w) {
			words = append(words, w)
		}
	}
	return words
}

func errorAt(line string, words []string) int {
	for _, w := range words {
		if i := strings.Index(line, w); i >= 0 {
			return i
		}
	}
	return -1
}
