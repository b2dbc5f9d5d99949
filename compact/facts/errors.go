package facts

import (
	"strings"

	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

// maxErrorLine bounds an error line in bytes.
const maxErrorLine = 110

// errorLines takes the lines of a tool's output that report a failure, at most
// four of one output.
func (s *Set) errorLines(sp *Span) {
	if !errortext.Mentions(sp.Text) {
		return
	}
	taken, name := 0, label{text: "error"}
	for line := range strings.Lines(sp.Text) {
		if len(line) > 4000 {
			line = line[:4000]
		}
		at := errortext.At(line)
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
