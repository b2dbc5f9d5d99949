package evaluate

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// looseDepth bounds the nesting that the loose reader follows.
const looseDepth = 32

// number and word are scalars whose text a caller interprets: a number's
// literal, and a bare word such as true, None or NaN. A stump is a string that
// lost its end.
type (
	number string
	word   string
	stump  string
)

// member is one name and value of an object. Repeated names stay, so that a
// caller can see that an answer contradicts itself.
type member struct {
	name  string
	value any
}

// object is a JSON object in the order of its members.
type object []member

// loose reads one JSON value from text that a model wrote and that need not be
// quite JSON: trailing or missing commas, single or typographic quotes, names
// without quotes, comments, raw line ends and unescaped quotes in strings, and
// text that stops in the middle. On valid JSON it reads what JSON says.
//
// Values are object, []any, string, stump, number and word.
type loose struct {
	s     string
	i     int
	depth int
	// mended is set when the text was not JSON, cut when it ended too early.
	mended, cut bool
	// bad is set when there was no way to read on.
	bad bool
}

// readObject reads the object that begins at s[at] and tells where it ends.
func readObject(s string, at int) (obj object, end int, l *loose) {
	l = &loose{s: s, i: at}
	obj = l.object()
	return obj, l.i, l
}

func (l *loose) more() bool { return l.i < len(l.s) && !l.bad }

// blank skips white space and comments.
func (l *loose) blank() {
	for l.more() {
		rest := l.s[l.i:]
		switch {
		case strings.HasPrefix(rest, "//"):
			l.mended = true
			l.skipPast("\n")
		case strings.HasPrefix(rest, "/*"):
			l.mended = true
			l.skipPast("*/")
		default:
			r, size := utf8.DecodeRuneInString(rest)
			if !unicode.IsSpace(r) && r != '\uFEFF' {
				return
			}
			l.i += size
		}
	}
}

func (l *loose) skipPast(mark string) {
	if n := strings.Index(l.s[l.i:], mark); n >= 0 {
		l.i += n + len(mark)
		return
	}
	l.i = len(l.s)
}

// object reads from its opening brace on.
func (l *loose) object() object {
	var obj object
	if !l.enter() {
		return nil
	}
	defer l.leave()
	for first := true; ; first = false {
		if l.separator('}', first) {
			return obj
		}
		if !l.more() {
			l.cut = !l.bad
			return obj
		}
		name, ok := l.name()
		if !ok {
			return obj
		}
		l.blank()
		if !l.more() {
			l.cut = true
			return obj
		}
		if c := l.s[l.i]; c != ':' && c != '=' {
			l.bad = true
			return obj
		} else if c == '=' {
			l.mended = true
		}
		l.i++
		v, whole := l.value()
		if whole {
			obj = append(obj, member{name, v})
		}
	}
}

// array reads from its opening bracket on.
func (l *loose) array() []any {
	list := []any{}
	if !l.enter() {
		return nil
	}
	defer l.leave()
	for first := true; ; first = false {
		if l.separator(']', first) {
			return list
		}
		if !l.more() {
			l.cut = !l.bad
			return list
		}
		if v, whole := l.value(); whole {
			list = append(list, v)
		}
	}
}

func (l *loose) enter() bool {
	l.i++
	l.depth++
	l.bad = l.bad || l.depth > looseDepth
	return !l.bad
}

func (l *loose) leave() { l.depth-- }

// separator skips what stands between two members and reports whether the end
// came instead of another one.
func (l *loose) separator(end byte, first bool) bool {
	commas := 0
	for l.blank(); l.more() && (l.s[l.i] == ',' || l.s[l.i] == ';'); l.blank() {
		l.mended = l.mended || l.s[l.i] == ';'
		l.i++
		commas++
	}
	if !l.more() {
		return false
	}
	closed := l.s[l.i] == end
	if closed {
		l.i++
	}
	want := 1
	if first || closed {
		want = 0
	}
	l.mended = l.mended || commas != want
	return closed
}

// name reads an object's member name, quoted or bare.
func (l *loose) name() (string, bool) {
	if _, quoted := l.quote(); quoted {
		s, whole := l.string()
		l.cut = l.cut || !whole
		return s, whole
	}
	w := l.bare()
	if w == "" {
		l.bad = true
		return "", false
	}
	l.mended = true
	return w, true
}

// value reads any value; whole is false when the text ended inside it.
func (l *loose) value() (v any, whole bool) {
	l.blank()
	if !l.more() {
		l.cut = true
		return nil, false
	}
	switch c := l.s[l.i]; {
	case c == '{':
		v = l.object()
		return v, !l.bad
	case c == '[':
		v = l.array()
		return v, !l.bad
	}
	if _, quoted := l.quote(); quoted {
		text, ended := l.string()
		if ended {
			return text, true
		}
		l.cut = true
		return stump(text), text != ""
	}
	return l.scalar()
}

// scalar reads a number or a bare word. One that runs into the end of the text
// may have lost its tail and does not count.
func (l *loose) scalar() (any, bool) {
	w := l.bare()
	switch {
	case w == "":
		l.bad = true
		return nil, false
	case l.i >= len(l.s):
		l.cut = true
		return nil, false
	case isNumber(w):
		return number(w), true
	}
	if w != "true" && w != "false" && w != "null" {
		l.mended = true
	}
	return word(w), true
}

// bare reads a run of characters that can stand without quotes.
func (l *loose) bare() string {
	start := l.i
	for l.i < len(l.s) {
		r, size := utf8.DecodeRuneInString(l.s[l.i:])
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-+./%", r) {
			break
		}
		l.i += size
	}
	return l.s[start:l.i]
}

func isNumber(s string) bool {
	if s == "" || strings.IndexByte("+-.0123456789", s[0]) < 0 {
		return false
	}
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && !strings.ContainsAny(s, "xXpP_nN")
}
