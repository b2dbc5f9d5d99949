package textsafe

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible reports whether a reader does not see r, or r changes how other characters are
// shown: Unicode's categories Cc, Cf and Co, noncharacters, variation selectors, tags, line
// separators and the fillers in other categories. Tabs and line breaks are control
// characters, and so invisible.
func Invisible(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Variation_Selector, unicode.Noncharacter_Code_Point),
		r == 0x034F, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5, r == 0x3164, r == 0xFFA0,
		r >= 0x180B && r <= 0x180F, r >= 0x2028 && r <= 0x2029, r >= 0x2060 && r <= 0x206F, r >= 0xFFF0 && r <= 0xFFFB,
		r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return false
}

// HasHidden reports whether s contains anything that Clean would drop or replace: invisible
// characters other than tabs and line breaks, or bytes that are not UTF-8.
func HasHidden(s string) bool {
	return !utf8.ValidString(s) || strings.IndexFunc(s, func(r rune) bool { return Invisible(r) && !lineBreaking(r) }) >= 0
}

// Clean removes what is invisible: terminal control sequences and invisible characters. Tabs
// and line breaks stay; bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	if !HasHidden(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if Invisible(r) && !lineBreaking(r) {
			return -1
		}
		return r
	}, StripEscapes(s))
}

func lineBreaking(r rune) bool { return r == '\n' || r == '\t' || r == '\r' }

// escapes are terminal control sequences (ECMA-48); an operating system command ends with
// BEL or ESC and a backslash.
var escapes = regexp.MustCompile(`\x1b(?:\[[^@-~]{0,30}[@-~]|\][^\x07\x1b]{0,254}(?:\x07|\x1b\\)|[\[\]])?`)

// StripEscapes removes terminal control sequences (ECMA-48: colours, cursor moves, titles).
func StripEscapes(s string) string {
	if strings.IndexByte(s, '\x1b') < 0 {
		return s
	}
	return escapes.ReplaceAllString(s, "")
}
