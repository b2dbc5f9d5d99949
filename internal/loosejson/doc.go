// Package loosejson reads JSON and similar texts: Python's printed dicts, lists and tuples,
// constructors such as Decimal('1'), and answers of language models with comments, missing
// commas or typographic quotes. It builds a flat list of nodes and never fails: what cannot
// be read has no nodes.
package loosejson

import (
	"strconv"
	"strings"

	"memoryd/internal/phrases"
)

// Limits of the reader. It skips what exceeds them, without an error.
const (
	// MaxText limits the text that is read, in bytes.
	MaxText   = 64 << 10
	maxNodes  = 600
	maxReply  = 4000 // nodes of a model's answer
	maxNested = 24
)

// Kind is the type of a value.
type Kind byte

// The kinds of values. Other is a bare word such as NaN, a constructor such as
// Decimal('1'), or <a printed object>.
const (
	None Kind = iota
	Object
	Array
	String
	Number
	True
	False
	Null
	Other
)

// Node is one value of a parsed structure. Nodes refer to each other by index. 0 is the root;
// as a link it means none.
type Node struct {
	Kind  Kind
	Cut   bool   // a scalar that the end of the text may have shortened
	Key   string // as written in the source, without quotes
	Val   string // the value of a scalar, as written in the source, without quotes
	Child int32  // the first member or element
	Next  int32  // the next one of the same parent
	Count int32  // number of members or elements, including dropped ones
}

// Doc is a parsed structure. Members with the same name are all kept, in order.
type Doc struct {
	Nodes []Node
	Rest  string // the text after the value
	Cut   bool   // the text ended inside the value
	// Mended reports that ReadReply had to repair the text.
	Mended bool
}

// Looks reports whether s starts like an object, an array or a tuple.
func Looks(s string) bool {
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
	return looksLikeItem(body)
}

// looksLikeItem reports whether s, behind a bracket, starts like an item or the end of an array.
func looksLikeItem(s string) bool {
	c := s[0]
	if phrases.IsDigit(c) { // [1, 2] but not the log prefix [12:30:01]
		end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		return end < 0 || strings.IndexByte(",] \n\re", s[end]) >= 0
	}
	if strings.IndexByte("{[\"']-(", c) >= 0 {
		return true
	}
	switch w := s[:phrases.NameLen(s)]; w {
	case "true", "false", "null", "None", "True", "False":
		return true
	default:
		return w != "" && strings.HasPrefix(s[len(w):], "(") && phrases.IsAlpha(c)
	}
}

// Parse reads the structure at the beginning of s, as far as possible. If there is none, the
// document has no nodes.
func Parse(s string) *Doc {
	d := &Doc{}
	d.Parse(s)
	return d
}

// Clear removes all nodes and keeps the memory for new ones.
func (d *Doc) Clear() {
	clear(d.Nodes)
	*d = Doc{Nodes: d.Nodes[:0]}
}

// Parse works like the function Parse, and fills an empty document.
func (d *Doc) Parse(s string) {
	s = strings.TrimLeft(s, " \t\r\n")
	if !Looks(s) {
		return
	}
	p := parser{s: s, d: d, most: maxNodes}
	if len(s) > MaxText {
		p.s, d.Cut = s[:MaxText], true
	}
	if _, ok := p.value(0, ""); !ok {
		if !p.end() || len(d.Nodes) < 2 {
			d.Nodes = d.Nodes[:0]
			return
		}
		d.Cut = true
	}
	if d.Cut {
		return
	}
	after := strings.TrimLeft(s[p.i:], " \t\r")
	if after != "" && strings.IndexByte("\n{[,;", after[0]) < 0 { // a word in braces, not a value
		d.Nodes = d.Nodes[:0]
		return
	}
	d.Rest = strings.TrimSpace(after)
}

// ReadReply reads the object that begins at s[at]. It repairs typical mistakes of language
// models: trailing or missing commas, single or typographic quotes, names without quotes,
// comments, raw line ends and unescaped quotes in strings, and truncated text. It returns the
// end of the object, or false if it could not be read.
func ReadReply(s string, at int) (d *Doc, end int, ok bool) {
	d = &Doc{}
	if at >= len(s) || s[at] != '{' {
		return d, at, false
	}
	p := parser{s: s, i: at, d: d, most: maxReply, mend: true}
	_, whole := p.container(0, "", Object, '}')
	d.Cut = !whole && p.end()
	return d, p.i, whole || d.Cut
}

// OK reports whether there is a structure.
func (d *Doc) OK() bool { return len(d.Nodes) > 0 }

// IsWhole reports whether the text is one structure from its beginning to its end.
func (d *Doc) IsWhole() bool { return d.OK() && !d.Cut && d.Rest == "" }

// Size is about how many bytes the structure takes on one line, whatever its layout is.
func (d *Doc) Size() (n int) {
	for i := range d.Nodes {
		n += len(d.Nodes[i].Key) + len(d.Nodes[i].Val) + 4
	}
	return n
}

// IsLabel reports whether the structure is a word in brackets before a text, as in "[22012]"
// above a message, and no list.
func (d *Doc) IsLabel() bool {
	return d.Rest != "" && d.Nodes[0].Kind == Array && d.Nodes[0].Count <= 1
}

// Child returns the first child of node i, or 0.
func (d *Doc) Child(i int32) int32 {
	if int(i) >= len(d.Nodes) {
		return 0
	}
	return d.Nodes[i].Child
}

// Str returns the decoded text of a string node, or the literal of another scalar.
func (d *Doc) Str(i int32) string {
	n := &d.Nodes[i]
	if n.Kind != String {
		return n.Val
	}
	s, _ := Unquote(n.Val, MaxText)
	return s
}

// Strings returns all kept strings, decoded, one per line.
func (d *Doc) Strings() string {
	var b strings.Builder
	for i := range d.Nodes {
		if d.Nodes[i].Kind == String {
			b.WriteString(d.Str(int32(i)))
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Number returns the integer in a number or in a string; otherwise 0.
func (d *Doc) Number(i int32) int {
	v, _ := strconv.Atoi(strings.TrimSpace(d.Nodes[i].Val))
	return v
}

// Filled reports whether a value has content.
func (d *Doc) Filled(i int32) bool {
	n := &d.Nodes[i]
	switch n.Kind {
	case Null:
		return false
	case String:
		return strings.TrimSpace(n.Val) != ""
	case Number:
		return strings.Trim(n.Val, "-+0.") != ""
	case Object, Array:
		return n.Count > 0
	default:
		return true
	}
}
