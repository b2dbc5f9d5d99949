package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyed reports whether position i stands right behind a member name.
func (c *scanner) keyed(i int) bool {
	if c.keyEnd < 0 {
		return false
	}
	if c.sp.Ledger || c.list && i-c.keyEnd < 2000 {
		return true
	}
	return i-c.keyEnd <= 6 || i-c.keyEnd <= 24 && onlyMarks(c.s[c.keyEnd:i])
}

// onlyMarks reports whether s is made of what may stand between a member's name
// and its value.
func onlyMarks(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '\\', '"', '\'', ':', ' ':
		default:
			return false
		}
	}
	return true
}

// emphasised reports whether [from,to) stands between the marks of Markdown, which
// who writes the document again writes again.
func (c *scanner) emphasised(from, to int) bool {
	return from >= 2 && to+2 <= len(c.s) && c.s[from-2:from] == "**" && c.s[to:to+2] == "**"
}

// isKey reports whether the token names what follows: name: or "name": or name=.
func (c *scanner) isKey(to, j int, v string) bool {
	if len(v) > 40 {
		return false
	}
	if to < j && c.s[to] == ':' && j-to == 1 {
		return true
	}
	k := j
	for k < len(c.s) && c.s[k] == '\\' && k-j < 8 {
		k++
	}
	if k < len(c.s) && (c.s[k] == '"' || c.s[k] == '\'' || c.s[k] == '*') {
		k++
	}
	if k > j && k < len(c.s) && c.s[k] == ':' {
		return true
	}
	return k == j && k+1 < len(c.s) && c.s[k] == '=' && c.s[k+1] != '='
}

// labelAt gives the label of a value at i, nil for none.
func (c *scanner) labelAt(i int) (keyed bool, l *label) {
	if c.keyed(i) {
		return true, &c.key
	}
	if c.wordEnd >= 0 && i-c.wordEnd <= reach-len(c.word.text) {
		return false, &c.word
	}
	if c.keyEnd >= 0 && i-c.keyEnd <= reach-len(c.key.text) {
		return false, &c.key
	}
	return false, nil
}

// worth decides whether a token may be a fact at all.
func (c *scanner) worth(v string, sh shape, from, to, j int, isKey, keyed bool) bool {
	if len(v) < minValue || len(v) > maxValue {
		return false
	}
	switch sh {
	case plain:
		return len(v) >= 4 && !isGeneric(v) && (keyed && (c.wholeValue(j) || c.sp.Ledger) || c.isName(v, from) || c.quotedAt(from, to) || c.option(from, to) || c.sp.Source == FromUser && !isStop(v))
	case number:
		return len(v) >= 4 || keyed
	default:
		return true
	}
}

// wholeValue reports whether a value ends at j, so that it is not the first word
// of a text.
func (c *scanner) wholeValue(j int) bool {
	return j >= len(c.s) || strings.IndexByte("\"',}]\n\r\\<", c.s[j]) >= 0
}

// isName reports whether a plain word looks like a proper name: it starts with a
// capital inside a sentence.
func (c *scanner) isName(v string, from int) bool {
	r, _ := utf8.DecodeRuneInString(v)
	if !unicode.IsUpper(r) || from < 2 || len(v) < 3 {
		return false
	}
	before := strings.TrimRight(c.s[max(0, from-3):from], " \"'(*")
	if before == "" {
		return false
	}
	last := before[len(before)-1]
	return last != '.' && last != '\n' && last != '!' && last != '?' && last != ':' && last != '-' && last != '>' && last != '#'
}

// option reports whether the word is the first of a list in brackets, as in
// "(car, foot or bike)".
func (c *scanner) option(from, to int) bool {
	return from > 0 && c.s[from-1] == '(' && to+1 < len(c.s) && (c.s[to] == ',' || c.s[to] == ')' || strings.HasPrefix(c.s[to:], " or "))
}

func (c *scanner) quotedAt(from, to int) bool {
	return from > 0 && (c.s[from-1] == '"' || c.s[from-1] == '\'') && to < len(c.s) && c.s[to] != ' '
}

// phrase takes a short quoted text of several words behind a member name.
func (c *scanner) phrase(i int) {
	spaces := 0
	for j := i; j < len(c.s) && j-i <= maxPhrase; j++ {
		switch b := c.s[j]; {
		case b == '\n' || b == '\\' && !c.closes(j, c.s[i-1]):
			return
		case b == c.s[i-1] || b == '\\':
			if v := c.s[i:j]; spaces > 0 && spaces < 9 && len(v) >= 4 && strings.TrimSpace(v) == v {
				c.set.add(v, &c.key, true, true, phrase, c.sp)
			}
			return
		case b == ' ':
			spaces++
		}
	}
}

// closes reports whether the backslashes at j stand before the quote that ends a
// text inside a text.
func (c *scanner) closes(j int, quote byte) bool {
	for j < len(c.s) && c.s[j] == '\\' {
		j++
	}
	return j < len(c.s) && c.s[j] == quote
}
