package facts

import "strings"

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
	sp  *Span
	s   string
	// key is the newest member name, which ended at keyEnd; list says that a list
	// opened right behind it.
	key    label
	keyEnd int
	list   bool
	// word is the newest word of prose that can serve as a label.
	word    label
	wordEnd int
}

func scan(set *Set, sp *Span) {
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

// token handles the token at [i,j).
func (c *scanner) token(i, j int) {
	from, to := trim(c.s, i, j)
	if from >= to {
		return
	}
	sh := shapeOf(c.s[from:to])
	if (sh == joined || sh == ident) && c.emphasised(from, to) {
		from, to = from-2, to+2
		sh = shapeOf(c.s[from:to])
	}
	v := c.s[from:to]
	isKey := c.isKey(to, j, v)
	keyed, l := c.labelAt(from)
	if c.worth(v, sh, from, to, j, isKey, keyed) {
		f := c.set.add(v, l, keyed, c.quotedAt(from, to), sh, c.sp)
		if f != nil && isKey {
			f.named = true
		}
		if sh == stamp {
			c.set.add(v[:len("2006-01-02")], l, keyed, false, date, c.sp)
		}
	}
	switch {
	case isKey:
		c.key, c.keyEnd, c.list = label{text: v}, j, false
		if c.sp.Source == FromArgs && sh <= joined {
			c.set.argNames[v] = true
		}
	case sh <= joined && tellsMuch(v):
		c.word, c.wordEnd = label{text: v}, to
	}
}

// trim drops punctuation at the ends of a token.
func trim(s string, i, j int) (int, int) {
	for i < j && trims[s[i]]&atFront != 0 && (s[i] != '#' || i+1 >= j || s[i+1] <= ' ' || s[i+1] == '#') &&
		(s[i] != '-' || i+1 >= j || s[i+1] < '0' || s[i+1] > '9') && (s[i] != '.' || i+1 >= j || s[i+1] != '/') {
		i++
	}
	for i < j && trims[s[j-1]]&atEnd != 0 {
		j--
	}
	return i, j
}
