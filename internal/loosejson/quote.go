package loosejson

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// atQuote reports whether a string begins here.
func (p *parser) atQuote() bool {
	c := p.s[p.i]
	if c == '"' || c == '\'' {
		return true
	}
	if !p.mend {
		return false
	}
	r, _ := utf8.DecodeRuneInString(p.s[p.i:])
	return strings.ContainsRune("`“”‘’", r)
}

// quoted reads a string and gives its raw inside; ok is false where its end is
// missing.
func (p *parser) quoted() (raw string, ok bool) {
	if p.mend {
		return p.quotedLoosely()
	}
	q := p.s[p.i]
	start := p.i + 1
	for i := start; ; {
		j := strings.IndexByte(p.s[i:], q)
		if j < 0 {
			p.i = len(p.s)
			return p.s[start:], false
		}
		i += j
		if !Escaped(p.s[start:i]) {
			p.i = i + 1
			return p.s[start:i], true
		}
		i++
	}
}

// quotedLoosely is quoted for a writer who forgets to escape quotes.
func (p *parser) quotedLoosely() (raw string, ok bool) {
	open, size := utf8.DecodeRuneInString(p.s[p.i:])
	p.mended(open != '"')
	p.i += size
	end := closing(open)
	start := p.i
	for p.i < len(p.s) {
		r, size := utf8.DecodeRuneInString(p.s[p.i:])
		switch {
		case r == '\\' && p.i+1 < len(p.s):
			p.mended(strings.IndexByte(`"\/bfnrtu`, p.s[p.i+1]) < 0)
			size++
		case r == end && p.endsHere(size):
			raw = p.s[start:p.i]
			p.i += size
			return raw, true
		case r == end || r < ' ':
			p.mended(true)
		}
		p.i += size
	}
	return p.s[start:], false
}

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

// endsHere reports whether the quote of size bytes at p.i ends its string: what
// follows must be something that can follow a string. Otherwise it is a quote
// inside the text that the writer forgot to escape.
func (p *parser) endsHere(size int) bool {
	rest := strings.TrimLeftFunc(p.s[p.i+size:], unicode.IsSpace)
	if rest == "" || strings.IndexByte(",;:}]=", rest[0]) >= 0 || strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") {
		return true
	}
	// A missing comma: the next line begins with a quoted name.
	between := p.s[p.i+size : len(p.s)-len(rest)]
	return strings.Contains(between, "\n") && strings.ContainsAny(rest[:1], `"'`)
}

// Escaped reports whether the character after s is escaped, that is, whether s ends with an
// odd number of backslashes.
func Escaped(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// Unquote decodes the escapes of JSON and Python strings, up to limit bytes of
// source. It reports whether it read all of s.
func Unquote(s string, limit int) (string, bool) {
	whole := len(s) <= limit
	if !whole {
		s = s[:limit]
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s, whole
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			plain := strings.IndexByte(s[i+1:], '\\')
			if plain < 0 {
				plain = len(s) - i - 1
			}
			b.WriteString(s[i : i+1+plain])
			i += 1 + plain
			continue
		}
		r, n := escaped(s[i+1:])
		if r < 0 {
			b.WriteByte(s[i+1])
		} else {
			b.WriteRune(r)
		}
		i += 1 + n
	}
	return b.String(), whole
}

// escaped gives what the escape at the start of s stands for and its length; r is negative where
// that is the first byte itself.
func escaped(s string) (r rune, n int) {
	switch s[0] {
	case 'n':
		return '\n', 1
	case 't':
		return '\t', 1
	case 'r':
		return '\r', 1
	case 'b', 'f':
		return ' ', 1
	case 'u':
		r, ok := hex(s, 4)
		if !ok {
			break
		}
		if strings.HasPrefix(s[5:], `\u`) {
			low, _ := hex(s[6:], 4) // 0 goes with nothing
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 11
			}
		}
		return r, 5
	case 'x':
		if r, ok := hex(s, 2); ok {
			return r, 3
		}
	}
	return -1, 1
}

// hex reads the hexadecimal digits behind the first byte of s.
func hex(s string, digits int) (rune, bool) {
	if len(s) < 1+digits {
		return 0, false
	}
	n, err := strconv.ParseUint(s[1:1+digits], 16, 16)
	return rune(n), err == nil //nolint:gosec // of 16 bits
}
