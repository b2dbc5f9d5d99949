package evaluate

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// closing gives the quote that ends a string begun with open.
func closing(open rune) rune {
	switch open {
	case '“', '”':
		return '”'
	case '‘', '’':
		return '’'
	}
	return open
}

// quote tells the quote that stands next, if one does.
func (l *loose) quote() (rune, bool) {
	r, _ := utf8.DecodeRuneInString(l.s[l.i:])
	return r, strings.ContainsRune("\"'`“”‘’", r) && r != utf8.RuneError
}

// string reads a quoted string; whole is false when its closing quote is
// missing.
func (l *loose) string() (s string, whole bool) {
	open, size := utf8.DecodeRuneInString(l.s[l.i:])
	l.i += size
	l.mended = l.mended || open != '"'
	end := closing(open)
	var b strings.Builder
	for l.i < len(l.s) {
		r, size := utf8.DecodeRuneInString(l.s[l.i:])
		switch {
		case r == '\\':
			l.escape(&b)
			continue
		case r == end && l.endsHere(size):
			l.i += size
			return b.String(), true
		case r == end || r < ' ' || r == utf8.RuneError && size == 1:
			l.mended = true
		}
		b.WriteRune(r)
		l.i += size
	}
	return b.String(), false
}

// endsHere reports whether the quote of size bytes at l.i ends its string: what
// follows must be something that can follow a string. Otherwise it is a quote
// inside the text that the model forgot to escape.
func (l *loose) endsHere(size int) bool {
	rest := strings.TrimLeftFunc(l.s[l.i+size:], unicode.IsSpace)
	if rest == "" || strings.IndexByte(",;:}]=", rest[0]) >= 0 {
		return true
	}
	if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
		return true
	}
	// A missing comma: the next line begins with a quoted name.
	between := l.s[l.i+size : len(l.s)-len(rest)]
	return strings.Contains(between, "\n") && strings.ContainsAny(rest[:1], `"'`)
}

// escape reads a backslash and what it escapes.
func (l *loose) escape(b *strings.Builder) {
	l.i++
	if l.i >= len(l.s) {
		return
	}
	c := l.s[l.i]
	l.i++
	switch c {
	case 'n':
		b.WriteByte('\n')
	case 't':
		b.WriteByte('\t')
	case 'r':
		b.WriteByte('\r')
	case 'b':
		b.WriteByte('\b')
	case 'f':
		b.WriteByte('\f')
	case '"', '\\', '/':
		b.WriteByte(c)
	case 'u':
		b.WriteRune(l.unicode())
	default: // \' and the like: the model escaped what needs none
		l.mended = true
		r, size := utf8.DecodeRuneInString(l.s[l.i-1:])
		l.i += size - 1
		b.WriteRune(r)
	}
}

// unicode reads the digits after \u, and the second half of a surrogate pair. A
// surrogate without its half is the replacement character.
func (l *loose) unicode() rune {
	r := l.hex4()
	if utf16.IsSurrogate(r) && strings.HasPrefix(l.s[l.i:], `\u`) {
		mark := l.i
		l.i += 2
		if pair := utf16.DecodeRune(r, l.hex4()); pair != utf8.RuneError {
			return pair
		}
		l.i = mark
	}
	if utf16.IsSurrogate(r) {
		return utf8.RuneError
	}
	return r
}

func (l *loose) hex4() rune {
	if l.i+4 > len(l.s) {
		l.mended = true
		return utf8.RuneError
	}
	n, err := strconv.ParseUint(l.s[l.i:l.i+4], 16, 16)
	if err != nil {
		l.mended = true
		return utf8.RuneError
	}
	l.i += 4
	return rune(n)
}
