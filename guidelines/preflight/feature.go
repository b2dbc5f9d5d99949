package preflight

import (
	"math"
	"strings"
)

// hash is FNV-1a with a mark for the kind of feature and the path before it.
type hash uint64

func (h hash) add(s string) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * 1099511628211
	}
	return (h ^ 0xFF) * 1099511628211
}

func (h hash) bytes(s []byte) hash {
	for _, b := range s {
		h = (h ^ hash(b)) * 1099511628211
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

// collector reads inputs, one after the other: their features, by which likeness
// and naive Bayes go, and the pieces that novelty goes by.
type collector struct {
	known    interner
	features bags
	parts    interner // the pieces of all aspects
	pieces   [aspects]bags
	room     scratch
}

// scratch is room that is used again for each text.
type scratch struct {
	words, fields, plain []string
	form                 []byte
}

func newCollector() *collector {
	return &collector{known: newInterner(), parts: newInterner()}
}

// read takes an input in.
func (c *collector) read(leaves []leaf) {
	for i := range leaves {
		c.leaf(&leaves[i])
	}
	c.features.end()
	for a := range c.pieces {
		c.pieces[a].end()
	}
}

func (c *collector) put(h hash) { c.features.put(c.known.number(uint64(h))) }

// maxValue is up to which length a text is a value of its own.
const maxValue = 64

func (c *collector) leaf(l *leaf) {
	at := seed.add(l.path)
	c.put(at.add("given"))
	switch l.kind {
	case array:
		c.put(at.add("size").int(int(l.number)))
	case object:
	case number:
		c.put(at.add("is").add(l.text))
		c.put(at.add("scale").int(scale(l.number)))
		c.piece(argument, at.add(l.text))
	case word:
		c.put(at.add("is").add(l.text))
		c.piece(argument, at.add(l.text))
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

func (c *collector) text(at hash, l *leaf) {
	lower := strings.ToLower(l.text)
	c.room.words = appendWords(c.room.words[:0], lower)
	c.room.plain = appendFields(c.room.plain[:0], l.text)
	c.room.fields = appendFields(c.room.fields[:0], lower)
	isWord, isPiece := at.add("word"), at
	for _, w := range c.room.words {
		c.put(isWord.add(w))
		c.piece(anyWord, isPiece.add(w))
	}
	c.order(at)
	c.marks(at, l)
	c.piecesOf(at, lower)
}

// order notes neighbouring words, and how the text starts and ends.
func (c *collector) order(at hash) {
	isPair := at.add("pair")
	for i, w := range c.room.words {
		if i > 0 {
			c.put(isPair.add(c.room.words[i-1]).add(w))
		}
	}
	if f := c.room.plain; len(f) > 0 {
		first, last := f[0], f[len(f)-1]
		c.put(at.add("first").add(strings.ToLower(first)))
		c.put(at.add("first form").bytes(c.skeleton(first)))
		c.put(at.add("last").add(strings.ToLower(last)))
		c.put(at.add("last form").bytes(c.skeleton(last)))
	}
}

// marksOfInterest are characters with a meaning in most languages that a text
// may be written in.
const marksOfInterest = "'\"`()[]{}|$;&<>\\"

// marks notes the length and the counts of marks: whether odd, and thresholds.
func (c *collector) marks(at hash, l *leaf) {
	c.put(at.add("length").int(scale(float64(l.length))))
	isOdd, isCount := at.add("odd"), at.add("count")
	for i := range len(marksOfInterest) {
		mark := marksOfInterest[i : i+1]
		n := strings.Count(l.text, mark)
		c.put(isOdd.add(mark).int(n % 2))
		for _, least := range []int{1, 2, 3, 4, 6} {
			if n >= least {
				c.put(isCount.add(mark).int(least))
			}
		}
	}
}

// skeleton is valid until the next.
func (c *collector) skeleton(s string) []byte {
	c.room.form = appendSkeleton(c.room.form[:0], s)
	return c.room.form
}
