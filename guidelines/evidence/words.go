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
	for i := range len(lower) {
		b := lower[i]
		if isLetter(b) {
			if start < 0 {
				start = i
			}
			continue
		}
		if start >= 0 {
			x.word(col, call, lower[start:i])
			start = -1
		}
		if b == '-' && i+1 < len(lower) && (i == 0 || lower[i-1] == ' ') {
			start = i
		}
	}
	if start >= 0 {
		x.word(col, call, lower[start:])
	}
	for i := range len(s) {
		now := inWord[s[i]]
		if now && !inside {
			count++
		}
		inside = now
	}
	return count
}

// inWord marks letters, digits, the underscore and everything beyond ASCII.
var inWord = indexWordBytes()

func indexWordBytes() (in [256]bool) {
	for b := range in {
		c := byte(b)
		in[b] = isLetter(c|0x20) || c >= '0' && c <= '9' || c == '_' || c >= utf8.RuneSelf
	}
	return in
}

// word notes a word unless it is too short or too long to mean much.
func (x *inputs) word(col int32, call int, w string) {
	if len(w) >= 2 && len(w) <= maxWordBytes && w[len(w)-1] != '-' {
		x.token(col, call, tokenWord, w)
	}
}

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= utf8.RuneSelf }

// charsOf notes which characters of interest s has.
func (x *inputs) charsOf(c *column, call int, s string) {
	if len(s) > maxWordsText {
		s = s[:maxWordsText]
	}
	var has uint32
	for i := range len(s) {
		has |= charBits[s[i]]
	}
	for i := range charsOfInterest {
		if has&(1<<i) == 0 {
			continue
		}
		if c.chars[i] == nil {
			c.chars[i] = newSet(x.n)
		}
		c.chars[i].add(call)
	}
}

// charBits has for each byte the bit of its place in charsOfInterest, 0 for none.
var charBits = indexChars()

func indexChars() (bits [256]uint32) {
	for i, b := range charsOfInterest {
		bits[b] = 1 << i
	}
	for b := utf8.RuneSelf; b < len(bits); b++ {
		bits[b] = bits[0x80]
	}
	return bits
}
