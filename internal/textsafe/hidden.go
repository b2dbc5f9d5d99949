package textsafe

import (
	"regexp"
	"strings"
	"unicode"
)

// Invisible reports whether a reader does not see r, or r changes how other characters are
// shown: Unicode's categories Cc, Cf, Co, Zl and Zp, noncharacters, variation selectors and
// what is ignored by default. Tabs and line breaks are control characters, and so invisible.
func Invisible(r rune) bool {
	return r < ' ' || r >= 0x7f && !isPlain(r) && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point)
}

// isPlain reports whether r is of the letters and marks of Latin, or a dash, a quotation mark or
// an ellipsis, which are most of what is not ASCII.
func isPlain(r rune) bool { return r >= 0xae && r < 0x300 || r >= 0x2010 && r < 0x2028 }

// Clean removes what is invisible: terminal control sequences and invisible characters. Tabs
// and line breaks stay; bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		if Invisible(r) && !strings.ContainsRune("\n\t\r", r) {
			return -1
		}
		return r
	}, StripEscapes(s))
}

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
