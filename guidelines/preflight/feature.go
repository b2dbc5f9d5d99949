package preflight

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a way to look at an input. Each has a model of its own; their mean is
// steadier than one model over all features.
type view uint8

const (
	byWord  view = iota // words, neighbouring words, how a text starts and ends
	byShape             // words, and the form of the text with all words alike
	byMark              // words, and lengths and counts of quotes and brackets
	views
)

// hash is FNV-1a with a mark for the kind of feature and the path before it.
type hash uint64

func (h hash) add(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return (h ^ 0xFF) * 1099511628211
}

func (h hash) int(n int) hash {
	for range 4 {
		h = (h ^ hash(n&0xFF)) * 1099511628211
		n >>= 8
	}
	return h
}

const seed hash = 14695981039346656037

// features lists what v sees in an input, each once.
func features(v view, leaves []leaf) []uint64 {
	c := collector{view: v, seen: map[hash]bool{}}
	for _, l := range leaves {
		c.leaf(l)
	}
	return c.list
}

type collector struct {
	view view
	seen map[hash]bool
	list []uint64
}

func (c *collector) put(h hash) {
	if !c.seen[h] {
		c.seen[h] = true
		c.list = append(c.list, uint64(h))
	}
}

// maxValue is up to which length a text is a value of its own.
const maxValue = 64

func (c *collector) leaf(l leaf) {
	at := seed.add(l.path)
	c.put(at.add("given"))
	switch l.kind {
	case list:
		c.put(at.add("size").int(int(l.number)))
	case object:
	case number:
		c.put(at.add("is").add(l.text))
		c.put(at.add("scale").int(scale(l.number)))
	case word:
		c.put(at.add("is").add(l.text))
	case text:
		if l.length <= maxValue {
			c.put(at.add("is").add(l.text))
		}
		c.text(at, l)
	}
}

// scale is the sign and order of magnitude, in powers of two.
func scale(f float64) int {
	n := int(math.Log2(1 + min(math.Abs(f), math.MaxFloat64)))
	if f < 0 {
		return -n
	}
	return n
}

func (c *collector) text(at hash, l leaf) {
	words := wordsOf(l.text)
	for _, w := range words {
		c.put(at.add("word").add(w))
	}
	switch c.view {
	case byWord:
		for i := 1; i < len(words); i++ {
			c.put(at.add("pair").add(words[i-1]).add(words[i]))
		}
		if f := strings.Fields(l.text); len(f) > 0 {
			first, last := f[0], f[len(f)-1]
			c.put(at.add("first").add(strings.ToLower(first)))
			c.put(at.add("first form").add(skeleton(first)))
			c.put(at.add("last").add(strings.ToLower(last)))
			c.put(at.add("last form").add(skeleton(last)))
		}
	case byShape:
		form := "^" + skeleton(l.text) + "$"
		for n := 2; n <= 5; n++ {
			grams(form, n, func(g string) { c.put(at.add("form").add(g)) })
		}
	case byMark:
		c.marks(at, l)
	}
}

// marksOfInterest are characters with a meaning in most languages that a text
// may be written in.
const marksOfInterest = "'\"`()[]{}|$;&<>\\"

// marks notes the length and the counts of marks: whether odd, and thresholds.
func (c *collector) marks(at hash, l leaf) {
	c.put(at.add("length").int(scale(float64(l.length))))
	for i := range len(marksOfInterest) {
		mark := marksOfInterest[i : i+1]
		n := strings.Count(l.text, mark)
		c.put(at.add("odd").add(mark).int(n % 2))
		for _, least := range []int{1, 2, 3, 4, 6} {
			if n >= least {
				c.put(at.add("count").add(mark).int(least))
			}
		}
	}
}

// grams gives the runs of n characters of s.
func grams(s string, n int, give func(string)) {
	var starts []int
	for i := range s {
		starts = append(starts, i)
	}
	starts = append(starts, len(s))
	for i := 0; i+n < len(starts); i++ {
		give(s[starts[i]:starts[i+n]])
	}
}

// wordsOf cuts a text, in lower case, into runs of letters and underscores with
// the hyphens before them, runs of digits, and runs of anything else but blanks.
func wordsOf(s string) []string {
	s = strings.ToLower(s)
	var words []string
	start, last := 0, blank
	flush := func(end int) {
		if last != blank && end > start {
			words = append(words, s[start:end])
		}
	}
	for i, r := range s {
		k := class(r)
		if k == last || last == hyphen && k == letter {
			last = k
			continue
		}
		if k == hyphen && last == other {
			k = other
		}
		if k != last {
			flush(i)
			start = i
		}
		last = k
	}
	flush(len(s))
	return words
}

type charClass uint8

const (
	blank charClass = iota
	letter
	digit
	hyphen
	other
)

func class(r rune) charClass {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_', r >= utf8.RuneSelf && unicode.IsLetter(r):
		return letter
	case r >= '0' && r <= '9':
		return digit
	case r == '-':
		return hyphen
	case unicode.IsSpace(r):
		return blank
	}
	return other
}

// skeleton is the form of a text: "a" for a run of letters, "0" for a run of
// digits, one blank for white space, and everything else as it stands.
func skeleton(s string) string {
	var b strings.Builder
	last := other
	for _, r := range s {
		k := class(r)
		switch {
		case k == letter && last != letter:
			b.WriteByte('a')
		case k == digit && last != digit:
			b.WriteByte('0')
		case k == blank && last != blank:
			b.WriteByte(' ')
		case k == hyphen, k == other:
			b.WriteRune(r)
		}
		last = k
	}
	return b.String()
}

// casedSkeleton is the skeleton of a text with "A" for a run of letters that starts
// with a capital.
func casedSkeleton(s string) string {
	form := []byte(skeleton(s))
	at, last := 0, other
	for _, r := range s {
		k := class(r)
		if k == letter && last != letter {
			for at < len(form) && form[at] != 'a' {
				at++
			}
			if at < len(form) && unicode.IsUpper(r) {
				form[at] = 'A'
			}
			at++
		}
		last = k
	}
	return string(form)
}
