package facts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Values shorter than minValue or longer than maxValue bytes are no facts.
const (
	minValue = 3
	maxValue = 120
	// maxPhrase bounds a text of several words.
	maxPhrase = 80
)

// reach is how far before a value a word may stand to become its label, in bytes.
const reach = 40

// scanner walks over one text. It does not parse: the text may be JSON, JSON
// inside a string, a log, source code or prose.
type scanner struct {
	set *Set
	sp  Span
	s   string
	// key is the newest member name, which ended at keyEnd; list says that a list
	// opened right behind it.
	key    string
	keyEnd int
	list   bool
	// word is the newest word of prose that can serve as a label.
	word    string
	wordEnd int
}

func scan(set *Set, sp Span) {
	c := scanner{set: set, sp: sp, s: sp.Text, keyEnd: -1, wordEnd: -1}
	c.run()
}

func (c *scanner) run() {
	for i := 0; i < len(c.s); {
		b := c.s[i]
		switch {
		case b == '\\':
			n := escape(c.s, i)
			if last := c.s[i+n-1]; (last == '"' || last == '\'') && c.keyed(i) {
				c.phrase(i + n)
			}
			i += n
			continue
		case b == '[' && c.keyed(i):
			c.list = true
		case b == ']':
			c.list = false
		case b == '\n' && c.sp.Ledger:
			c.keyEnd = -1
		case (b == '"' || b == '\'') && c.keyed(i):
			c.phrase(i + 1)
		}
		if separates[b] {
			i++
			continue
		}
		j := i + 1
		for j < len(c.s) && !separates[c.s[j]] {
			j++
		}
		c.token(i, j)
		i = j
	}
}

// escape is the length of the escape at s[i], a backslash: escapes like \n, \" and
// \u00e9 separate tokens; another backslash stands for itself.
func escape(s string, i int) int {
	if i+1 >= len(s) {
		return 1
	}
	if s[i+1] == 'u' && i+6 <= len(s) && strings.Trim(s[i+2:i+6], "0123456789abcdefABCDEF") == "" {
		return 6
	}
	if strings.IndexByte(`nrtbf"'\\/`, s[i+1]) >= 0 {
		return 2
	}
	return 1
}

// keyed reports whether position i stands right behind a member name.
func (c *scanner) keyed(i int) bool {
	if c.keyEnd < 0 {
		return false
	}
	if c.sp.Ledger || c.list && i-c.keyEnd < 2000 {
		return true
	}
	return i-c.keyEnd <= 6 || i-c.keyEnd <= 24 && strings.Trim(c.s[c.keyEnd:i], "\\\"': ") == ""
}

// token handles the token at [i,j).
func (c *scanner) token(i, j int) {
	from, to := trim(c.s, i, j)
	if from >= to {
		return
	}
	if sh := shapeOf(c.s[from:to]); (sh == joined || sh == ident) && c.emphasised(from, to) {
		from, to = from-2, to+2
	}
	v := c.s[from:to]
	isKey := c.isKey(to, j, v)
	sh := shapeOf(v)
	keyed, label := c.labelAt(from)
	if c.worth(v, sh, from, to, j, isKey, keyed) {
		f := c.set.add(v, label, keyed, c.quotedAt(from, to), sh, c.sp)
		if f != nil && isKey {
			f.named = true
		}
		if sh == stamp {
			c.set.add(v[:len("2006-01-02")], label, keyed, false, date, c.sp)
		}
	}
	switch {
	case isKey:
		c.key, c.keyEnd, c.list = v, j, false
		if c.sp.Source == FromArgs && sh <= joined {
			c.set.argNames[v] = true
		}
	case sh <= joined && tellsMuch(v):
		c.word, c.wordEnd = v, to
	}
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

func (c *scanner) labelAt(i int) (keyed bool, label string) {
	if c.keyed(i) {
		return true, c.key
	}
	if c.wordEnd >= 0 && i-c.wordEnd <= reach-len(c.word) {
		return false, c.word
	}
	if c.keyEnd >= 0 && i-c.keyEnd <= reach-len(c.key) {
		return false, c.key
	}
	return false, ""
}

// worth decides whether a token may be a fact at all.
func (c *scanner) worth(v string, sh shape, from, to, j int, isKey, keyed bool) bool {
	if len(v) < minValue || len(v) > maxValue {
		return false
	}
	switch sh {
	case plain:
		return !generic[strings.ToLower(v)] && len(v) >= 4 && (keyed && (c.wholeValue(j) || c.sp.Ledger) || c.isName(v, from) || c.quotedAt(from, to) || c.option(from, to) || c.sp.Source == FromUser && !stop[strings.ToLower(v)])
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
				c.set.add(v, c.key, true, true, phrase, c.sp)
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

// trim drops punctuation at the ends of a token.
func trim(s string, i, j int) (int, int) {
	for i < j && strings.IndexByte(".:,!?#*~-", s[i]) >= 0 && !(s[i] == '#' && i+1 < j && s[i+1] > ' ' && s[i+1] != '#') &&
		!(s[i] == '-' && i+1 < j && s[i+1] >= '0' && s[i+1] <= '9') && !(s[i] == '.' && i+1 < j && s[i+1] == '/') {
		i++
	}
	for i < j && strings.IndexByte(".:,!?*~", s[j-1]) >= 0 {
		j--
	}
	return i, j
}

// separates marks the bytes between tokens.
//
//nolint:gochecknoglobals // a constant table
var separates = func() (t [256]bool) {
	for b := range 0x21 {
		t[b] = true
	}
	for _, b := range []byte("\"'(),;[]{}<>=\\|`*\x7f") {
		t[b] = true
	}
	return t
}()

// tellsMuch reports whether a word can serve as a label.
func tellsMuch(w string) bool {
	if len(w) < 3 || len(w) > 30 {
		return false
	}
	c := w[0] | 0x20
	return (c >= 'a' && c <= 'z' || w[0] >= 0x80) && !stop[strings.ToLower(w)]
}

// generic are words that JSON and its schemas use for themselves.
//
//nolint:gochecknoglobals // a constant table
var generic = map[string]bool{
	"true": true, "false": true, "null": true, "none": true, "string": true, "integer": true, "number": true, "boolean": true,
	"object": true, "array": true, "text": true, "type": true, "the": true, "this": true, "you": true, "yes": true, "not": true, "and": true,
}

//nolint:gochecknoglobals // a constant table
var stop = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq("the and for with from that this have has had was were are not but you your our its his her their " +
		"will would can could should may might into onto over under about which what when where who how all any some one two here there " +
		"please also then than they them been being does did done just let like need want") {
		m[w] = true
	}
	return m
}()
