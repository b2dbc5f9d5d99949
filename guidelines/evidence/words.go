package evidence

import (
	"strings"
	"unicode/utf8"
)

// charsOfInterest are the characters whose presence in a text is a feature of
// its own: those that shells, queries, paths and templates give a meaning. The
// last stands for any character outside ASCII.
var charsOfInterest = [...]byte{
	'\n', '\'', '"', '`', '$', '*', '|', ';', '&', '>', '<', '\\', '?', '{', '[', '(', '#', '%', ':', '/', ',', '@', '=', '~', 0x80,
}

// wordsOf notes the words of s, in lower case, and returns how many runs of
// letters or digits it has. Words end at everything else, also at a digit or an
// underscore, so that "gift_card_5094406" has the words gift and card. A leading
// hyphen stays, so that "-exec" is told from "exec".
func (x *inputs) wordsOf(col int32, call int, s string) (count int) {
	limit := min(len(s), maxWordsText, x.budget)
	x.budget -= limit
	lower := strings.ToLower(s[:limit])
	start, inside := -1, false
	for i := 0; i <= len(lower); i++ {
		var b byte = ' '
		if i < len(lower) {
			b = lower[i]
		}
		if isLetter(b) {
			if start < 0 {
				start = i
			}
		} else if start >= 0 {
			x.word(col, call, lower, start, i)
			start = -1
		}
		if b == '-' && i+1 < len(lower) && (i == 0 || lower[i-1] == ' ') {
			start = i
		}
	}
	for i := range len(s) {
		now := isLetter(s[i]|0x20) || s[i] >= '0' && s[i] <= '9' || s[i] == '_' || s[i] >= utf8.RuneSelf
		if now && !inside {
			count++
		}
		inside = now
	}
	return count
}

// word notes text[start:end] unless it is too short or too long to mean much.
func (x *inputs) word(col int32, call int, text string, start, end int) {
	w := text[start:end]
	if len(w) >= 2 && len(w) <= maxWordBytes && strings.Trim(w, "-") != "" {
		x.token(col, call, tokenWord, w)
	}
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= utf8.RuneSelf }

// charsOf notes which characters of interest s has.
func (x *inputs) charsOf(c *column, call int, s string) {
	if len(s) > maxWordsText {
		s = s[:maxWordsText]
	}
	for i, b := range charsOfInterest {
		if b < utf8.RuneSelf && strings.IndexByte(s, b) < 0 || b == 0x80 && isASCII(s) {
			continue
		}
		if c.chars[i] == nil {
			c.chars[i] = newSet(x.n)
		}
		c.chars[i].add(call)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
