package loosejson

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/phrases"
)

// parser reads a value in one pass. Its methods report false where the text
// ended or made no sense; what was read until then stays.
type parser struct {
	s    string
	i    int
	d    *Doc
	most int  // nodes that are kept
	mend bool // read on where a language model erred
}

func (p *parser) end() bool { return p.i >= len(p.s) }

// mended notes that the text is not JSON.
func (p *parser) mended(when bool) { p.d.Mended = p.d.Mended || when }

// space skips white space, and comments where the text is mended.
func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
			continue
		}
		switch {
		case !p.mend:
			return
		case strings.HasPrefix(p.s[p.i:], "//"):
			p.skipPast("\n")
		case strings.HasPrefix(p.s[p.i:], "/*"):
			p.skipPast("*/")
		default:
			r, size := utf8.DecodeRuneInString(p.s[p.i:])
			if !unicode.IsSpace(r) {
				return
			}
			p.i += size
		}
	}
}

func (p *parser) skipPast(mark string) {
	p.mended(true)
	if n := strings.Index(p.s[p.i:], mark); n >= 0 {
		p.i += n + len(mark)
		return
	}
	p.i = len(p.s)
}

// add keeps a node while there is room and gives its index, or -1.
func (p *parser) add(n Node) int32 {
	if len(p.d.Nodes) >= p.most {
		return -1
	}
	p.d.Nodes = append(p.d.Nodes, n)
	return int32(len(p.d.Nodes) - 1)
}

func (p *parser) value(depth int, key string) (int32, bool) {
	p.space()
	if p.end() || depth > maxNested {
		return -1, false
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.container(depth, key, Object, '}')
	case c == '[':
		return p.container(depth, key, Array, ']')
	case c == '(':
		return p.container(depth, key, Array, ')')
	case p.atQuote():
		raw, ok := p.quoted()
		return p.add(Node{Kind: String, Key: key, Val: raw, Cut: !ok}), ok
	}
	return p.bare(key)
}

// peek is the next byte, 0 at the end.
func (p *parser) peek() byte {
	if p.end() {
		return 0
	}
	return p.s[p.i]
}

// atComma reports whether a comma follows, or what is written for one.
func (p *parser) atComma() bool {
	c := p.peek()
	return c == ',' || c == ';'
}

func (p *parser) container(depth int, key string, k Kind, closer byte) (int32, bool) {
	p.i++
	at := p.add(Node{Kind: k, Key: key})
	var last int32
	for count := int32(0); ; count++ {
		closed, ok := p.separator(closer, count == 0)
		if closed || !ok {
			return at, closed
		}
		child, ok := p.member(depth, k)
		if at >= 0 {
			p.d.Nodes[at].Count = count + 1
			last = p.link(at, last, child)
		}
		if !ok {
			return at, false
		}
	}
}

// separator passes what stands before a member: nothing before the first, else a
// comma. closed is true where the container ends instead, ok is false where
// neither stands there.
func (p *parser) separator(closer byte, first bool) (closed, ok bool) {
	p.space()
	commas, want := 0, 1
	if first {
		want = 0
	}
	for p.atComma() && (commas < want || p.mend) {
		p.mended(p.s[p.i] == ';')
		p.i++
		commas++
		p.space()
	}
	if p.end() {
		return false, false
	}
	if p.s[p.i] == closer {
		p.i++
		p.mended(commas != 0)
		return true, true
	}
	p.mended(commas != want)
	return false, p.mend || commas == want
}

// member reads an element, or a key with its value.
func (p *parser) member(depth int, k Kind) (int32, bool) {
	if k == Array {
		return p.value(depth+1, "")
	}
	var key string
	if p.atQuote() {
		var ok bool
		if key, ok = p.quoted(); !ok {
			return -1, false
		}
	} else {
		n := phrases.NameLen(p.s[p.i:])
		if n == 0 {
			return -1, false
		}
		key = p.s[p.i : p.i+n]
		p.i += n
		p.mended(true)
	}
	p.space()
	switch c := p.peek(); {
	case c == ':':
	case c == '=' && p.mend:
		p.mended(true)
	default:
		return -1, false
	}
	p.i++
	return p.value(depth+1, key)
}

func (p *parser) link(parent, last, child int32) int32 {
	if child <= 0 {
		return last
	}
	if last == 0 {
		p.d.Nodes[parent].Child = child
	} else {
		p.d.Nodes[last].Next = child
	}
	return child
}

// bare reads a number, a word, a constructor, a printed object, or a text with a prefix.
func (p *parser) bare(key string) (int32, bool) {
	start := p.i
	for p.i < len(p.s) &&
		(phrases.IsWord(p.s[p.i]) || strings.IndexByte("+-.", p.s[p.i]) >= 0 || p.mend && strings.IndexByte("/%", p.s[p.i]) >= 0) {
		p.i++
	}
	w := p.s[start:p.i]
	if w == "" {
		return p.angled(key)
	}
	if !p.mend && len(w) <= 2 && phrases.IsAlpha(w[0]) && !p.end() && p.atQuote() { // b'bytes'
		raw, ok := p.quoted()
		p.mended(true)
		return p.add(Node{Kind: String, Key: key, Val: raw, Cut: !ok}), ok
	}
	n := Node{Kind: p.kindOf(w), Key: key, Val: w, Cut: p.end()}
	p.mended(n.Kind == Other || n.Kind != Number && w != "true" && w != "false" && w != "null")
	if p.peek() == '(' {
		return p.constructor(n)
	}
	return p.add(n), !p.end()
}

// kindOf is what a word without quotation marks stands for.
func (p *parser) kindOf(w string) Kind {
	switch w {
	case "true", "True":
		return True
	case "false", "False":
		return False
	case "null", "None", "nil", "undefined":
		return Null
	}
	if p.mend && IsNumber(w) || !p.mend && phrases.IsDigit(w[len(w)-1]) && strings.IndexByte("0123456789-+.", w[0]) >= 0 {
		return Number
	}
	return Other
}

// constructor reads Name(…) as one scalar. Keyword arguments stay unread.
func (p *parser) constructor(n Node) (int32, bool) {
	start, level := p.i, 0
	for !p.end() {
		switch c := p.s[p.i]; c {
		case '(', '[', '{':
			level++
		case ')', ']', '}':
			if level--; level == 0 {
				p.i++
				n.Val = p.s[start-len(n.Val) : p.i]
				return p.add(n), true
			}
		case '"', '\'':
			if _, ok := p.quoted(); !ok {
				return p.add(n), false
			}
			continue
		}
		p.i++
	}
	return p.add(n), false
}

// angled reads <repr of something> as one scalar.
func (p *parser) angled(key string) (int32, bool) {
	if p.s[p.i] != '<' {
		return -1, false
	}
	j := strings.IndexByte(p.s[p.i:], '>')
	if j < 0 {
		p.i = len(p.s)
		return -1, false
	}
	n := Node{Kind: Other, Key: key, Val: p.s[p.i : p.i+j+1]}
	p.i += j + 1
	return p.add(n), true
}

var number = regexp.MustCompile(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$`)

// IsNumber reports whether s is a number in JSON or a similar notation: decimal, with an
// optional sign, leading point or exponent.
func IsNumber(s string) bool { return number.MatchString(s) }
