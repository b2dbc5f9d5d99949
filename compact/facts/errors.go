package facts

import "strings"

// maxErrorLine bounds an error line in bytes.
const maxErrorLine = 110

// errorLines takes the lines of a tool's output that report a failure, at most
// four of one output.
func (s *Set) errorLines(sp Span) {
	taken := 0
	for line := range strings.Lines(sp.Text) {
		if len(line) > 4000 {
			line = line[:4000]
		}
		at := errorAt(line)
		if at < 0 {
			continue
		}
		v := line[max(0, at-40):]
		if at <= 40 {
			v = line
		} else if k := strings.IndexByte(v, ' '); k >= 0 && k < 40 {
			v = v[k+1:]
		}
		v = cutAt(strings.TrimSpace(v), maxErrorLine)
		if strings.ContainsAny(v, "\x00\\") || len(v) < 8 {
			continue
		}
		s.add(v, "error", false, false, errText, sp)
		if taken++; taken == 4 {
			return
		}
	}
}

func errorAt(line string) int {
	for _, w := range []string{"Error", "error:", "ERROR", "Exception", "Traceback", "failed", "FAILED", "denied", "refused", "not found", "No such file"} {
		if i := strings.Index(line, w); i >= 0 {
			return i
		}
	}
	return -1
}

// cutAt shortens v to at most n bytes at a rune border.
func cutAt(v string, n int) string {
	if len(v) <= n {
		return v
	}
	for n > 0 && v[n]&0xC0 == 0x80 {
		n--
	}
	return strings.TrimSpace(v[:n])
}
