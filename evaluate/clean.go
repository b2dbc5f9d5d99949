package evaluate

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Caps on what a verdict may say, in characters.
const (
	maxSummary    = 200
	maxEvaluation = 1000
)

// hidden are code points that a reader does not see or that change how others
// are shown: format and bidi controls, tags, variation selectors, fillers.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x00AD, 0x00AD, 1},
		{0x034F, 0x034F, 1},
		{0x061C, 0x061C, 1},
		{0x115F, 0x1160, 1},
		{0x17B4, 0x17B5, 1},
		{0x180B, 0x180F, 1},
		{0x200B, 0x200F, 1},
		{0x2028, 0x202E, 1},
		{0x2060, 0x206F, 1},
		{0x3164, 0x3164, 1},
		{0xE000, 0xF8FF, 1},
		{0xFDD0, 0xFDEF, 1},
		{0xFE00, 0xFE0F, 1},
		{0xFEFF, 0xFEFF, 1},
		{0xFFA0, 0xFFA0, 1},
		{0xFFF0, 0xFFFB, 1},
		{0xFFFE, 0xFFFF, 1},
	},
	R32: []unicode.Range32{
		{0x1BCA0, 0x1BCA3, 1},
		{0x1D173, 0x1D17A, 1},
		{0xE0000, 0xE0FFF, 1},
		{0xF0000, 0x10FFFF, 1},
	},
	LatinOffset: 1,
}

// invisible reports whether r must not stand in text that people or other
// models will read: control characters and the hidden table.
func invisible(r rune) bool { return unicode.IsControl(r) || unicode.Is(hidden, r) }

// clean makes text of a model's fit to be stored: one paragraph, nothing
// invisible, valid UTF-8, at most limit characters, an ellipsis where it was
// cut.
func clean(s string, limit int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == utf8.RuneError || invisible(r):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:limit-1]), " ") + "…"
}

// firstSentence is s up to its first full stop.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}
