package preflight

import (
	"strings"

	tested "memoryd/guidelines/rules"
)

// hash is FNV-1a with a mark for the kind of feature and the path before it.
type hash uint64

const (
	seed  hash = 14695981039346656037
	prime hash = 1099511628211
)

func add[T string | []byte](h hash, s T) hash {
	for i := range len(s) {
		h = (h ^ hash(s[i])) * prime
	}
	return (h ^ 0xFF) * prime
}

func (h hash) add(s string) hash { return add(h, s) }

func (h hash) bytes(s []byte) hash { return add(h, s) }

func (h hash) with(o hash) hash { return (h ^ o) * prime }

func (h hash) int(n int) hash {
	for range 4 {
		h = (h ^ hash(n&0xFF)) * prime
		n >>= 8
	}
	return h
}

// mixed spreads each bit over all, by the finalizer of MurmurHash3.
func (h hash) mixed() hash {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// aspect is a way to cut an input into pieces.
type aspect uint8

const (
	opening aspect = iota // the form of how a text starts, capitals told from small letters
	given                 // a value, or how large it is
	word
	pair // of words
	aspects
)

// collector reads inputs, one after the other: their pieces, each once for an input, by numbers
// that are given to hashes in the order in which they come.
type collector struct {
	numbers map[uint64]int32
	keys    []uint64 // by number
	aspect  []aspect // by number
	newest  []int32  // by number: 1 + the newest input with it
	all     []int32  // of one input after the other
	ends    []int32
	form    []byte // room that is used again for each text
}

// newCollector makes a collector for inputs of about so many bytes together.
func newCollector(bytes int) *collector {
	return &collector{numbers: make(map[uint64]int32, min(bytes/8, 1<<17))} // most things come again
}

// read takes an input in.
func (c *collector) read(leaves []leaf) {
	for i := range leaves {
		c.leaf(&leaves[i])
	}
	c.ends = append(c.ends, int32(len(c.all))) //nolint:gosec // bounded by calls times what is read of one
}

// of lists the pieces of an input in the order in which they first came.
func (c *collector) of(input int32) []int32 {
	from := int32(0)
	if input > 0 {
		from = c.ends[input-1]
	}
	return c.all[from:c.ends[input]]
}

// put adds a piece to the input that is read.
func (c *collector) put(a aspect, h hash) {
	h = h.int(int(a))
	n, known := c.numbers[uint64(h)]
	if !known {
		n = int32(len(c.keys)) //nolint:gosec // bounded by calls times what is read of one
		c.numbers[uint64(h)] = n
		c.keys, c.newest, c.aspect = append(c.keys, uint64(h)), append(c.newest, 0), append(c.aspect, a)
	}
	if input := int32(len(c.ends)) + 1; c.newest[n] != input { //nolint:gosec // at most maxCalls
		c.newest[n] = input
		c.all = append(c.all, n)
	}
}

// maxValue is up to which length a text is a value of its own.
const maxValue = 64

func (c *collector) leaf(l *leaf) {
	at := seed.add(l.Path)
	c.put(given, at.add("given"))
	switch l.Kind {
	case tested.Array, tested.Object:
	case tested.Number, tested.Word:
		c.put(given, at.add("is").add(l.Text))
	case tested.Text:
		if l.Length <= maxValue {
			c.put(given, at.add("is").add(l.Text))
		}
		c.text(at, l)
	}
}

// text notes words and pairs of them, and how the text opens.
func (c *collector) text(at hash, l *leaf) {
	last := hash(0)
	for w := range strings.FieldsFuncSeq(strings.ToLower(l.Text), separates) {
		h := seed.add(w)
		c.put(word, at.with(h))
		if last != 0 && !strings.ContainsAny(w, "0123456789") { // such words hardly come in the same pair again
			c.put(pair, at.with(last).with(h))
		}
		last = h
	}
	for first := range strings.FieldsSeq(l.Text) {
		c.form = appendSkeleton(c.form[:0], first)
		c.put(opening, at.bytes(c.form))
		break
	}
}
