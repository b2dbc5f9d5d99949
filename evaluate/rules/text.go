package rules

import (
	"strings"
	"unicode"

	"memoryd/internal/phrases"
	"memoryd/internal/reading"
	"memoryd/internal/textsafe"
)

// Windows that bound the work on one output, in bytes and lines.
const (
	headBytes = 16 << 10
	tailBytes = 8 << 10
	headLines = 64
	tailLines = 32
	lineBytes = 400
)

// text is an output, or a string inside one, prepared for the rules that read
// lines: the first and last non-blank lines, trimmed and cut.
type text struct {
	full  string // without what was put around it
	lines []line
	// tail is the index in lines of the first line of the tail window, or
	// len(lines) when everything was read from the head.
	tail int
	// total is the number of non-blank lines, exact while everything was read
	// and otherwise a lower bound.
	total int
	long  bool // not everything was read
	none  line // stands for a line that is not there
}

// line is one line of a text. Its lower-case copy and the phrases that it holds
// are made when they are asked for: most lines are looked at once or not at all.
type line struct {
	s       string
	lower   string
	found   phrases.Marks
	lowered bool
	scanned bool
}

// low is the line in lower case.
func (l *line) low() string {
	if !l.lowered {
		l.lower, l.lowered = strings.ToLower(l.s), true
	}
	return l.lower
}

// has reports whether the line contains a phrase of the lists.
func (l *line) has(m phrases.Marks) bool {
	if !l.scanned {
		l.found, l.scanned = lineIndex.Scan(l.s), true
	}
	return l.found&m != 0
}

func newText(s string) *text {
	t := &text{}
	t.read(reading.Bare(s))
	return t
}

// clear forgets the text and keeps the room for lines.
func (t *text) clear() {
	clear(t.lines)
	*t = text{lines: t.lines[:0]}
}

// read prepares a text that is empty so far, from what nothing is put around.
func (t *text) read(s string) {
	t.full = s
	head := s
	if len(head) > headBytes {
		head, t.long = head[:headBytes], true
	}
	rest := t.readHead(head, headLines)
	t.tail = len(t.lines)
	if !t.long && rest == "" {
		return
	}
	t.long = true
	t.total += strings.Count(rest, "\n")
	tail := rest
	if len(s) > headBytes {
		tail = s[max(headBytes, len(s)-tailBytes):]
	}
	t.readTail(tail)
}

// readHead takes up to limit lines from the front of s and returns what is left.
func (t *text) readHead(s string, limit int) string {
	for s != "" && len(t.lines) < limit {
		var l string
		l, s, _ = strings.Cut(s, "\n")
		if l = padding.Trim(l); l != "" {
			t.add(l)
		}
	}
	return s
}

// readTail takes up to tailLines lines from the end of s, in order.
func (t *text) readTail(s string) {
	start := len(s)
	for n := 0; n < tailLines && start > 0; n++ {
		start = max(strings.LastIndexByte(s[:start], '\n'), 0)
	}
	t.readHead(s[start:], len(t.lines)+tailLines)
}

func (t *text) add(l string) {
	if len(l) > lineBytes {
		l = l[:lineBytes]
	}
	t.total++
	t.lines = append(t.lines, line{s: l})
}

// padding is white space within a line, and NUL.
var padding = textsafe.BytesOf("", " \t\r\v\f\x00")

// first and last give the outermost lines; a text has at least one line unless
// it is empty.
func (t *text) first() *line { return t.at(0) }
func (t *text) last() *line  { return t.at(len(t.lines) - 1) }

// opening is the first line that has a word, past rulers and frames.
func (t *text) opening() *line {
	for i := range t.lines[:min(len(t.lines), 3)] {
		if l := &t.lines[i]; strings.ContainsFunc(l.s, isLetterOrDigit) {
			return l
		}
	}
	return t.first()
}

func isLetterOrDigit(r rune) bool { return unicode.In(r, unicode.Letter, unicode.Digit) }

func (t *text) at(i int) *line {
	if i < 0 || i >= len(t.lines) {
		return &t.none
	}
	return &t.lines[i]
}

// short reports whether the text is a message rather than content: at most n
// lines and size bytes.
func (t *text) short(n, size int) bool {
	return t.total <= n && len(t.full) <= size
}
