package rules

import (
	"strings"
	"unicode/utf8"
)

// looseParser reads a value in one pass. Its methods report false where the
// source ended or made no sense; what was read until then stays.
type looseParser struct {
	s string
	i int
	d *doc
}

func (p *looseParser) end() bool { return p.i >= len(p.s) }

func (p *looseParser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

// add keeps a node while there is room and gives its index, or -1.
func (p *looseParser) add(n node) int32 {
	if len(p.d.nodes) >= maxNodes {
		return -1
	}
	p.d.nodes = append(p.d.nodes, n)
	return int32(len(p.d.nodes) - 1)
}

func (p *looseParser) value(depth int, key string) (int32, bool) {
	p.space()
	if p.end() || depth > maxDepth {
		return -1, false
	}
	switch c := p.s[p.i]; c {
	case '{':
		return p.container(depth, key, kindObject, '}')
	case '[':
		return p.container(depth, key, kindArray, ']')
	case '(':
		return p.container(depth, key, kindArray, ')')
	case '"', '\'':
		raw, ok := p.quoted()
		return p.add(node{kind: kindString, key: key, val: raw}), ok
	default:
		return p.bare(key)
	}
}

func (p *looseParser) container(depth int, key string, k kind, closer byte) (int32, bool) {
	p.i++
	at := p.add(node{kind: k, key: key})
	var last int32
	for count := int32(0); ; count++ {
		p.space()
		if p.end() {
			return at, false
		}
		if p.s[p.i] == closer {
			p.i++
			return at, true
		}
		child, ok := p.member(depth, k)
		if at >= 0 {
			p.d.nodes[at].count = count + 1
			last = p.link(at, last, child)
		}
		if !ok || !p.separator(closer) {
			return at, false
		}
	}
}

// member reads an element, or a key with its value.
func (p *looseParser) member(depth int, k kind) (int32, bool) {
	if k == kindArray {
		return p.value(depth+1, "")
	}
	var key string
	var ok bool
	if c := p.s[p.i]; c == '"' || c == '\'' {
		if key, ok = p.quoted(); !ok {
			return -1, false
		}
	} else {
		n := wordLen(p.s[p.i:])
		if n == 0 {
			return -1, false
		}
		key = p.s[p.i : p.i+n]
		p.i += n
	}
	p.space()
	if p.end() || p.s[p.i] != ':' {
		return -1, false
	}
	p.i++
	return p.value(depth+1, key)
}

func (p *looseParser) link(parent, last, child int32) int32 {
	if child <= 0 {
		return last
	}
	if last == 0 {
		p.d.nodes[parent].child = child
	} else {
		p.d.nodes[last].next = child
	}
	return child
}

// separator passes the comma between members; before a closer none is needed.
func (p *looseParser) separator(closer byte) bool {
	p.space()
	if p.end() {
		return false
	}
	if p.s[p.i] == ',' {
		p.i++
		return true
	}
	return p.s[p.i] == closer
}

// quoted reads a string in either kind of quotes and gives its raw inside.
func (p *looseParser) quoted() (string, bool) {
	q := p.s[p.i]
	start := p.i + 1
	for i := start; ; {
		j := strings.IndexByte(p.s[i:], q)
		if j < 0 {
			p.i = len(p.s)
			return p.s[start:], false
		}
		i += j
		if !escapedAt(p.s[start:i]) {
			p.i = i + 1
			return p.s[start:i], true
		}
		i++
	}
}

// escapedAt reports whether the character after s is escaped: whether s ends
// with an odd number of backslashes.
func escapedAt(s string) bool {
	n := 0
	for n < len(s) && s[len(s)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

func (p *looseParser) bare(key string) (int32, bool) {
	start := p.i
	for p.i < len(p.s) && (isWord(p.s[p.i]) || strings.IndexByte("+-.", p.s[p.i]) >= 0) {
		p.i++
	}
	w := p.s[start:p.i]
	if w == "" {
		return p.angled(key)
	}
	n := node{kind: kindOther, key: key, val: w}
	switch w {
	case "true", "True":
		n.kind = kindTrue
	case "false", "False":
		n.kind = kindFalse
	case "null", "None", "nil", "undefined":
		n.kind = kindNull
	default:
		if isDigit(w[len(w)-1]) && (isDigit(w[0]) || w[0] == '-' || w[0] == '+' || w[0] == '.') {
			n.kind = kindNumber
		}
	}
	if !p.end() && p.s[p.i] == '(' && n.kind == kindOther {
		return p.constructor(n)
	}
	return p.add(n), !p.end()
}

// constructor reads Name(…) as one scalar. Keyword arguments stay unread.
func (p *looseParser) constructor(n node) (int32, bool) {
	start, level := p.i, 0
	for !p.end() {
		switch c := p.s[p.i]; c {
		case '(', '[', '{':
			level++
		case ')', ']', '}':
			if level--; level == 0 {
				p.i++
				n.val = p.s[start-len(n.val) : p.i]
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
func (p *looseParser) angled(key string) (int32, bool) {
	if p.s[p.i] != '<' {
		return -1, false
	}
	j := strings.IndexByte(p.s[p.i:], '>')
	if j < 0 {
		p.i = len(p.s)
		return -1, false
	}
	n := node{kind: kindOther, key: key, val: p.s[p.i : p.i+j+1]}
	p.i += j + 1
	return p.add(n), true
}

// unquote decodes the escapes of JSON and Python strings, up to limit bytes of
// source. It reports whether it read all of s.
func unquote(s string, limit int) (string, bool) {
	whole := len(s) <= limit
	if !whole {
		s = s[:limit]
	}
	if strings.IndexByte(s, '\\') < 0 {
		return s, whole
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' || i+1 >= len(s) {
			plain := strings.IndexByte(s[i+1:], '\\')
			if plain < 0 {
				plain = len(s) - i - 1
			}
			b = append(b, s[i:i+1+plain]...)
			i += 1 + plain
			continue
		}
		var n int
		b, n = appendEscaped(b, s[i+1:])
		i += 1 + n
	}
	return string(b), whole
}

// appendEscaped appends what the escape at the start of s stands for and gives
// its length.
func appendEscaped(b []byte, s string) ([]byte, int) {
	switch s[0] {
	case 'n':
		return append(b, '\n'), 1
	case 't':
		return append(b, '\t'), 1
	case 'r':
		return append(b, '\r'), 1
	case 'b', 'f':
		return append(b, ' '), 1
	case 'u':
		return appendHex(b, s, 4)
	case 'x':
		return appendHex(b, s, 2)
	}
	return append(b, s[0]), 1
}

func appendHex(b []byte, s string, digits int) ([]byte, int) {
	if len(s) < 1+digits {
		return append(b, s[0]), 1
	}
	r := rune(0)
	for _, c := range []byte(s[1 : 1+digits]) {
		v := strings.IndexByte("0123456789abcdef", c|0x20)
		if isDigit(c) {
			v = int(c - '0')
		}
		if v < 0 {
			return append(b, s[0]), 1
		}
		r = r<<4 | rune(v)
	}
	return utf8.AppendRune(b, r), 1 + digits
}
