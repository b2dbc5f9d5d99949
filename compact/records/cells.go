package records

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"memoryd/internal/textsafe"
)

// cells flattens an object: its plain values, small objects and lists.
func (w *walker) cells(n *node) []cell {
	out := make([]cell, 0, len(n.kids))
	for i := range n.kids {
		kid, name := &n.kids[i], n.keys[i]
		switch {
		case kid.empty():
		case kid.scalar():
			if w.long(kid) && !w.call {
				continue
			}
			out = append(out, w.scalarCell(name, kid))
		case w.inside(kid):
			out = append(out, w.nested(name, kid))
		case w.call:
			c := w.nested(name, kid)
			c.text = shorten(c.text, headLimit)
			c.values = w.s.values.words(c.text, w.t.Place, false)
			out = append(out, c)
		}
	}
	return out
}

// nested writes a list or object inside its row. The first of several like
// objects carries the keys, the others follow its order.
func (w *walker) nested(name string, n *node) cell {
	c := cell{label: label(name)}
	full, bare := &nestedText{}, &nestedText{}
	full.WriteByte('[')
	w.write(full, name, n, true)
	full.WriteByte(']')
	w.write(bare, name, n, false)
	c.text, c.bare, c.values, c.shape = full.String(), "["+bare.String()+"]", full.values, c.label+full.shape
	if n.kind == '[' && all(n, (*node).scalar) {
		text := strings.Trim(c.bare, "[]")
		c.parts = []*item{{label: c.label, text: text, bare: text, values: c.values}}
		return c
	}
	if n.kind == '{' && all(n, func(kid *node) bool { return kid.kind == '0' || kid.kind == 't' || kid.kind == 'f' || kid.empty() }) {
		return c // figures of the record itself
	}
	kids := n.kids
	if n.kind == '{' && !objects(n) {
		kids = []node{*n}
	}
	for i := range kids {
		p := &item{label: c.label}
		full, bare := &nestedText{}, &nestedText{}
		if n.kind == '{' && objects(n) && !kids[i].holds(n.keys[i]) {
			bare.WriteString(n.keys[i] + " ")
			full.WriteString(n.keys[i] + " ")
			p.values = append(p.values, w.s.values.leaf(name, n.keys[i], w.t.Place)...)
		}
		w.write(full, name, &kids[i], true)
		w.write(bare, name, &kids[i], false)
		p.text, p.bare, p.shape, p.values = full.String(), bare.String(), c.label+full.shape, append(p.values, full.values...)
		c.parts = append(c.parts, p)
	}
	return c
}

// nestedText is the text of a nested value, its values and, in shape, its keys.
type nestedText struct {
	strings.Builder
	values []int32
	shape  string
}

// write writes a value that stands behind name.
func (w *walker) write(b *nestedText, name string, n *node, keys bool) {
	switch {
	case n.scalar():
		x := w.scalarCell(name, n)
		b.WriteString(x.text)
		b.values = append(b.values, x.values...)
	case n.kind == '{':
		w.writeMembers(b, n, keys)
	default:
		for i := range n.kids {
			switch {
			case i > 0 && n.kids[i].scalar():
				b.WriteByte(' ')
			case i > 0:
				b.WriteString("; ")
			}
			like := i == 0 || !sameKeys(&n.kids[0], &n.kids[i])
			w.write(b, name, &n.kids[i], keys && like)
		}
	}
}

func (w *walker) writeMembers(b *nestedText, n *node, keys bool) {
	keyed, sep := len(n.kids) > 1 && objects(n), ""
	for i := range n.kids {
		kid := &n.kids[i]
		if kid.empty() {
			continue
		}
		b.WriteString(sep)
		switch {
		case keyed:
			sep = "; "
			if !kid.holds(n.keys[i]) {
				b.WriteString(n.keys[i] + " ")
				b.values = append(b.values, w.s.values.leaf("", n.keys[i], w.t.Place)...)
			}
			w.write(b, n.keys[i], kid, keys && i == 0)
			continue
		case keys:
			sep = ", "
			b.WriteString(label(n.keys[i]) + " ")
			b.shape += "." + n.keys[i]
		default:
			sep = " "
		}
		if !kid.scalar() {
			b.WriteByte('[')
		}
		w.write(b, n.keys[i], kid, keys)
		if !kid.scalar() {
			b.WriteByte(']')
		}
	}
}

func all(n *node, f func(*node) bool) bool {
	return !slices.ContainsFunc(n.kids, func(kid node) bool { return !f(&kid) })
}

func sameKeys(a, b *node) bool {
	if len(a.keys) != len(b.keys) {
		return false
	}
	for i := range a.keys {
		if a.keys[i] != b.keys[i] || a.kids[i].empty() != b.kids[i].empty() {
			return false
		}
	}
	return true
}

func (w *walker) scalarCell(name string, n *node) cell {
	text := n.text
	switch n.kind {
	case 't':
		text = "yes"
	case 'f':
		text = "no"
	}
	flat := visible(text)
	c := cell{label: label(name), whole: text, ident: identifies(flat)}
	if _, ok := ofIdentifier(name); ok && len(flat) <= valueLimit && strings.IndexByte(flat, ' ') < 0 {
		c.ident = true
	}
	c.shape = c.label
	c.text = w.s.redact(name, short(flat))
	c.bare = c.text
	if n.kind == '"' || n.kind == '0' {
		c.values = w.s.values.leaf(c.label, c.text, w.t.Place)
	}
	return c
}

// short cuts a text, but never an address or a path.
func short(s string) string {
	if strings.IndexByte(s, ' ') < 0 && len(s) <= addressMax {
		return s
	}
	return ends(s, valueLimit)
}

// inLabels are the ASCII characters of labels.
var inLabels = textsafe.BytesOf("09azAZ", "_-./ ")

// label writes a key: without the "_id" that its value shows, and in characters
// that cannot be taken for marks of ours.
func label(key string) string {
	key, _ = ofIdentifier(key)
	key = strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && inLabels[r] || r > 0xa0 && !unicode.In(r, unicode.Zl, unicode.Zp) {
			return r
		}
		return -1
	}, key)
	return shorten(strings.Trim(key, " -.>"), 60)
}

// ofIdentifier cuts off the end of a key that says that its value identifies something.
func ofIdentifier(key string) (string, bool) {
	for _, end := range []string{"_id", "Id", "ID"} {
		if len(key) > len(end)+1 && strings.HasSuffix(key, end) {
			return key[:len(key)-len(end)], true
		}
	}
	return key, false
}

func joined(cells []cell) string {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = strings.TrimPrefix(c.label+" "+c.text, " ")
	}
	return strings.Join(texts, ", ")
}

// bareLine writes values without the names of their columns.
func bareLine(cells []cell) string {
	texts := make([]string, len(cells))
	for i := range cells {
		texts[i] = cells[i].bare
	}
	return strings.Join(texts, " | ")
}

// shapeOf tells which records below a head have the same columns.
func shapeOf(r *row, cells []cell) string {
	if len(cells) == 0 || len(cells) == 1 && (cells[0].label != "" || !strings.Contains(cells[0].shape, ".")) {
		return ""
	}
	var b strings.Builder
	b.WriteString(r.head.text)
	for i := range cells {
		b.WriteString("\n" + cells[i].shape)
	}
	return b.String()
}
