package rules

import "strings"

// Limits of the tolerant parser: what lies beyond is skipped, not an error.
const (
	maxNodes     = 600
	maxDepth     = 24
	maxStructure = headBytes * 4
)

type kind byte

const (
	kindNone kind = iota
	kindObject
	kindArray
	kindString
	kindNumber
	kindTrue
	kindFalse
	kindNull
	kindOther // a constructor such as Decimal('1'), NaN
)

// node is one value of a parsed structure. Nodes refer to one another by index;
// 0 is the root, and as a link means none.
type node struct {
	kind  kind
	key   string // as it stands in the source, without quotes
	val   string // of a scalar, as it stands in the source, without quotes
	child int32
	next  int32
	count int32 // members or elements, with those that were not kept
}

// doc is a parsed structure: JSON, or what Python prints for dicts and lists.
type doc struct {
	nodes []node
	rest  string // text after the value
	cut   bool   // the source ended inside the value
}

// looksStructured reports whether s starts as an object or array would.
func looksStructured(s string) bool {
	if len(s) < 2 || s[0] != '{' && s[0] != '[' {
		return false
	}
	body := strings.TrimLeft(s[1:], " \t\r\n")
	if body == "" {
		return false
	}
	if s[0] == '{' {
		return body[0] == '"' || body[0] == '\'' || body[0] == '}'
	}
	switch c := body[0]; c {
	case '{', '[', '"', '\'', ']', '-', '(':
		return true
	default:
		if isDigit(c) { // [1, 2] but not the log prefix [12:30:01]
			end := strings.IndexFunc(body, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
			return end < 0 || strings.IndexByte(",] \n\re", body[end]) >= 0
		}
		w := body[:wordLen(body)]
		return w == "true" || w == "false" || w == "null" || w == "None" || w == "True" || w == "False" ||
			w != "" && strings.HasPrefix(body[len(w):], "(") && isAlpha(c)
	}
}

func wordLen(s string) int {
	i := 0
	for i < len(s) && (isWord(s[i]) || s[i] == '.') {
		i++
	}
	return i
}

// parseLoose parses s as far as it goes. It never fails: a text that is no
// structure gives a document without nodes.
func parseLoose(s string) *doc {
	d := &doc{}
	d.parse(s)
	return d
}

// clear forgets the structure and keeps the room for nodes.
func (d *doc) clear() {
	clear(d.nodes)
	*d = doc{nodes: d.nodes[:0]}
}

// parse reads s into a document that is empty so far.
func (d *doc) parse(s string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if !looksStructured(s) {
		return
	}
	p := looseParser{s: s, d: d}
	if len(s) > maxStructure {
		p.s, d.cut = s[:maxStructure], true
	}
	if _, ok := p.value(0, ""); !ok {
		if !p.end() || len(d.nodes) < 2 {
			d.nodes = d.nodes[:0]
			return
		}
		d.cut = true
	}
	if d.cut {
		return
	}
	after := strings.TrimLeft(s[p.i:], " \t\r")
	if after != "" && strings.IndexByte("\n{[,;", after[0]) < 0 { // a word in braces, not a value
		d.nodes = d.nodes[:0]
		return
	}
	d.rest = strings.TrimSpace(after)
}

func (d *doc) ok() bool { return len(d.nodes) > 0 }

func (d *doc) child(i int32) int32 {
	if int(i) >= len(d.nodes) {
		return 0
	}
	return d.nodes[i].child
}

// str is the decoded text of a string node, and the literal of another scalar.
func (d *doc) str(i int32) string {
	n := &d.nodes[i]
	if n.kind != kindString {
		return n.val
	}
	s, _ := unquote(n.val, maxStructure)
	return s
}

// allStrings is every kept string, decoded, one a line.
func (d *doc) allStrings() string {
	size := 0
	for i := range d.nodes {
		if n := &d.nodes[i]; n.kind == kindString {
			size += len(n.val) + 1
		}
	}
	var b strings.Builder
	b.Grow(size)
	for i := range d.nodes {
		if d.nodes[i].kind == kindString {
			b.WriteString(d.str(int32(i)))
			b.WriteByte('\n')
		}
	}
	return b.String()
}
