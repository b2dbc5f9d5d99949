package textsafe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Ellipsis marks where Line left something out.
const Ellipsis = "…"

// Head returns the longest beginning of s of at most n bytes that does not end
// inside a character. It shares s's memory.
func Head(s string, n int) string {
	n = min(max(n, 0), len(s))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Tail returns the longest end of s of at most n bytes that does not begin
// inside a character. It shares s's memory.
func Tail(s string, n int) string {
	i := max(0, len(s)-max(n, 0))
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}

// HeadRunes returns the first n characters of s. It shares s's memory.
func HeadRunes(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// TailRunes returns the last n characters of s. It shares s's memory.
func TailRunes(s string, n int) string {
	i := len(s)
	for ; i > 0 && n > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	return s[i:]
}

// Line turns untrusted text into one printable line of at most n characters. White space
// collapses to single blanks, terminal control sequences and invisible characters are
// dropped, bytes that are not UTF-8 become U+FFFD, and a cut is marked with an ellipsis.
func Line(s string, n int) string {
	if line, ok := lineOf(s, n); ok {
		return line
	}
	var b strings.Builder
	b.Grow(min(len(s), n) + utf8.UTFMax)
	count, gap, cut := 0, false, 0 // cut is where the ellipsis would stand
	for _, r := range StripEscapes(s) {
		switch {
		case r > ' ' && r <= '~':
		case unicode.IsSpace(r) || r == 0:
			gap = count > 0
			continue
		case Invisible(r):
			continue
		}
		if gap {
			b.WriteByte(' ')
			count, gap = count+1, false
		}
		b.WriteRune(r)
		if count++; count < n {
			cut = b.Len()
		}
		if count > n {
			return strings.TrimRight(b.String()[:cut], " ") + HeadRunes(Ellipsis, n)
		}
	}
	return b.String()
}

// lineOf is Line for a text of which that leaves all, or all up to where it is cut.
func lineOf(s string, n int) (line string, ok bool) {
	blank := true // before the first character none may stand
	count, cut := 0, 0
	for i, r := range s {
		if count++; count == n {
			cut = i
		}
		switch {
		case r > ' ' && r <= '~':
			blank = false
		case r == ' ' && !blank:
			blank = true
			continue // one at the end does not count
		case r < 0xa1, r == utf8.RuneError, unicode.IsSpace(r), Invisible(r):
			return "", false
		default:
			blank = false
		}
		if count > n {
			return strings.TrimRight(s[:cut], " ") + HeadRunes(Ellipsis, n), true
		}
	}
	return s, s == "" || !blank
}

// Visible is Line without a limit.
func Visible(s string) string { return Line(s, 1<<40) }

// IsLabel reports whether s is valid UTF-8 of at most n bytes without ASCII control characters.
func IsLabel(s string, n int) bool {
	control := func(r rune) bool { return r < ' ' || r == 0x7f }
	return len(s) <= n && utf8.ValidString(s) && !strings.ContainsFunc(s, control)
}
