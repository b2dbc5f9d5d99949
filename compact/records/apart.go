package records

import (
	"strings"
	"unicode/utf8"
)

// cutArgs are the arguments of a call that were cut: which call it was, and what was cut
// off, each piece a line.
type cutArgs struct{ call, rest string }

// apart writes cells behind a lead, in n bytes or so. Where two calls become equal by that,
// the later one shows a piece of what was cut off that tells it from the earlier. A call
// without a name is what it was given.
func (s *Set) apart(lead string, cells []cell, n int, call string) string {
	args, rest := cut(joined(cells), n)
	var all strings.Builder
	for i := -1; i < len(cells); i++ {
		if i >= 0 {
			rest = cells[i].rest
		}
		if rest != "" {
			all.WriteString(rest + "\n")
		}
	}
	text, now := lead+args, cutArgs{call, all.String()}
	for len(text) <= 2*listLimit {
		before, taken := s.cut[text]
		if !taken {
			s.cut[text] = now
			break
		}
		if before.rest == now.rest || call != "" && before.call == call {
			break
		}
		text += " […" + s.redact("", difference(now.rest, before.rest)) + "]"
	}
	return text
}

// difference is where a text begins to differ from another, with a few words around.
func difference(text, other string) string {
	const before, after = 24, 48
	at := 0
	for at < min(len(text), len(other)) && text[at] == other[at] {
		at++
	}
	from := max(0, at-before, strings.LastIndexByte(text[:at], '\n')+1)
	for from > 0 && from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	line, _, _ := strings.Cut(text[from:], "\n")
	return Shorten(strings.TrimSpace(line), at-from+after)
}
