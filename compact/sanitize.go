package compact

import (
	"strings"

	"memoryd/compact/chat"
	"memoryd/internal/textsafe"
)

// sanitizer keeps secrets out of texts of ours where that is asked for, and foreign
// text from imitating our frame.
type sanitizer struct {
	mask func(text string) string // nil: secrets are no concern
}

// messages masks what was read of messages, before it is cut into parts that do not
// show a secret any more. The messages themselves, which are kept, stay.
func (s sanitizer) messages(ms []chat.Message) {
	for i := range ms {
		m := &ms[i]
		for _, list := range [][]string{m.Texts, m.Reasoning, m.Other} {
			for k := range list {
				list[k] = s.mask(list[k])
			}
		}
		for k := range m.Calls {
			m.Calls[k].Args = s.mask(m.Calls[k].Args)
		}
		for k := range m.Results {
			m.Results[k].Text = s.mask(m.Results[k].Text)
		}
	}
}

// value gives the text of a value that stands behind a label.
func (s sanitizer) value(label, value string) string {
	if s.mask != nil && textsafe.SecretName(label) {
		return textsafe.Masked
	}
	return s.text(value)
}

// text gives a text without secrets.
func (s sanitizer) text(text string) string {
	if s.mask == nil {
		return text
	}
	return s.mask(text)
}

// clean keeps a text from imitating our frame.
func (s sanitizer) clean(text string) string { return strings.ReplaceAll(text, frameOpen, "(memoryd ") }

// quoter drops the lines of tools that try to steer who reads them, and takes claims
// of a consent out of lines of tools and of the assistant which no user gave. It
// remembers what it saw, for a summary is written several times.
type quoter struct {
	agreed func() consents
	own    func(line string) bool // it holds nothing but what the assistant asked
	seen   map[string]string      // by line; "" is dropped
	plain  map[string]bool        // by shape: nothing to object to
}

func (q quoter) lines(lines []string) []string {
	var out []string
	for _, l := range lines {
		kept, seen := q.seen[l]
		if !seen {
			kept = q.line(l)
			q.seen[l] = kept
		}
		if kept != "" {
			out = append(out, kept)
		}
	}
	return out
}

func (q quoter) line(l string) string {
	if strings.HasPrefix(l, "user: ") || !wordy(l) {
		return l
	}
	key := shape(l)
	if q.plain[key] {
		return l
	}
	kept := q.checked(l)
	q.plain[key] = kept == l
	return kept
}

// shape is a line without its numbers: lines of a log that differ in nothing else
// are judged once.
func shape(l string) string {
	var b strings.Builder
	for i := 0; i < len(l); {
		j := i
		digits, hex := 0, true
		for j < len(l) && (l[j] >= '0' && l[j] <= '9' || l[j]|0x20 >= 'a' && l[j]|0x20 <= 'z' || l[j] >= 0x80) {
			if l[j] <= '9' {
				digits++
			}
			hex = hex && l[j]|0x20 <= 'f'
			j++
		}
		switch n := j - i; {
		case n == 0:
			b.WriteByte(l[i])
			j++
		case n > 2 && digits > 0 && (2*digits >= n || hex):
			b.WriteByte('0')
		default:
			b.WriteString(l[i:j])
		}
		i = j
	}
	return b.String()
}

func (q quoter) checked(l string) string {
	if !strings.HasPrefix(l, "called ") && !strings.HasPrefix(l, "assistant: ") { // the agent's own acts steer nobody
		if _, steers := textsafe.SuspectInstruction(l); steers && !q.own(l) {
			name, _, headed := strings.Cut(l, ": ") // what stands below needs its tool
			if _, steers := textsafe.SuspectInstruction(name); steers || !headed || !strings.HasPrefix(l, "# ") {
				return ""
			}
			return q.agreed().without(name)
		}
	}
	return q.agreed().without(l)
}

// wordy reports whether a line has three words of letters in a row, or letters
// beyond ASCII: what has not gives no orders.
func wordy(l string) bool {
	run, letters := 0, 0
	for i := range len(l) {
		switch c := l[i]; {
		case c >= 0x80:
			return true
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		case (c == ' ' || c == ',' || c == '.') && letters > 0:
			if run, letters = run+1, 0; run >= 2 {
				return true
			}
		case c != ' ':
			run, letters = 0, 0
		}
	}
	return run >= 2 && letters > 0
}
