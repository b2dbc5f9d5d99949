package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps on texts of a verdict, in runes.
const (
	maxSummary    = 160
	maxEvaluation = 400
	maxQuote      = 110
)

// clean turns hostile text into one printable line of at most limit runes: runs
// of white space, control and format characters become one space, bytes that are
// not UTF-8 become the replacement character, and a cut is marked.
func clean(s string, limit int) string {
	if isClean(s, limit) {
		return s
	}
	var b strings.Builder
	b.Grow(min(len(s), limit) + utf8.UTFMax)
	n, gap := 0, false
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		if r == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		i += size
		if r <= ' ' || r >= 0x7f && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			gap = n > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			n++
			gap = false
		}
		if n >= limit-1 && strings.TrimSpace(s[i:]) != "" {
			b.WriteRune('…')
			break
		}
		b.WriteRune(r)
		n++
		if n >= limit {
			break
		}
	}
	return b.String()
}

// isClean reports whether clean leaves s as it is: short enough, printable ASCII
// and typographic quotes, without runs of spaces or spaces at its ends.
func isClean(s string, limit int) bool {
	if len(s) > limit*utf8.UTFMax {
		return false
	}
	before, n := rune(' '), 0
	for i := 0; i < len(s); n++ {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); r != '“' && r != '”' && r != '…' {
				return false
			}
		}
		if r < ' ' || r == 0x7f || r == ' ' && before == ' ' {
			return false
		}
		before = r
		i += size
	}
	return n <= limit && (n == 0 || before != ' ')
}

// escapeLen is the length of the terminal control sequence (ECMA-48) that s
// starts with, at least 1.
func escapeLen(s string) int {
	if len(s) < 2 || s[1] != '[' {
		return 1
	}
	for i := 2; i < len(s) && i < 32; i++ {
		if s[i] >= 0x40 && s[i] <= 0x7e {
			return i + 1
		}
	}
	return 2
}

// stripEscapes removes terminal control sequences. It copies only when there
// are any.
func stripEscapes(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		s = s[i+escapeLen(s[i:]):]
	}
	return b.String()
}
