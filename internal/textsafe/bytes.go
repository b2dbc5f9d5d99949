package textsafe

// Bytes is a set of bytes.
type Bytes [256]bool

// BytesOf returns the set of the bytes in ranges, each written as its first and its last byte, and
// of others.
func BytesOf(ranges, others string) *Bytes {
	var set Bytes
	for i := 0; i < len(ranges); i += 2 {
		for c := int(ranges[i]); c <= int(ranges[i+1]); c++ {
			set[c] = true
		}
	}
	for i := range len(others) {
		set[others[i]] = true
	}
	return &set
}

// without takes bytes out of a set that is being made.
func (b *Bytes) without(bytes string) *Bytes {
	for i := range len(bytes) {
		b[bytes[i]] = false
	}
	return b
}

// Span is the length of the beginning of s that consists of such bytes.
func (b *Bytes) Span(s string) int {
	n := 0
	for n < len(s) && b[s[n]] {
		n++
	}
	return n
}

// Trim takes such bytes off both ends of s.
func (b *Bytes) Trim(s string) string {
	s = s[b.Span(s):]
	for s != "" && b[s[len(s)-1]] {
		s = s[:len(s)-1]
	}
	return s
}

// count is how many bytes of s are such.
func (b *Bytes) count(s string) (n int) {
	for i := range len(s) {
		if b[s[i]] {
			n++
		}
	}
	return n
}

// all reports whether s consists of such bytes.
func (b *Bytes) all(s string) bool { return b.Span(s) == len(s) }

// The sets that the forms of secrets are told by.
var (
	digit    = BytesOf("09", "")
	upper    = BytesOf("AZ", "")
	lower    = BytesOf("az", "")
	letter   = BytesOf("azAZ", "")
	alnum    = BytesOf("09azAZ", "")
	word     = BytesOf("09azAZ", "_-")
	dotted   = BytesOf("09azAZ", "_-.")
	hexed    = BytesOf("09afAF", "")
	capitals = BytesOf("09AZ", "")
	base64ed = BytesOf("09azAZ", "_-+/=")
	crypted  = BytesOf("09azAZ", "_-+/=.$,")
	bearer   = BytesOf("09azAZ", "_-+/=.~")
	blank    = BytesOf("", " \t")
	parting  = BytesOf("", ".:")           // what stands behind the first part of a token
	partedBy = BytesOf("09", "eMNOb")      // what such a token begins with
	goesOn   = BytesOf("", "/+")           // what a key without a mark goes on with behind a word
	before   = BytesOf("09azAZ", "_-+/%.") // what stands before no such key
	// How far a value reaches: to the end of the line for a header, else to the next blank or bracket.
	inLine  = BytesOf("\x00\xff", "").without("\n\r\"'\\")
	inValue = BytesOf("!\xff", "").without("\"'`,;&<>()]}|\\")
)
