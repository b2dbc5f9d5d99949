package records

import (
	"strings"
	"unicode/utf8"
)

// cells flattens an object: its plain values, small objects and lists.
func (w *walker) cells(n *node) []cell {
	var out []cell
	for i := range n.kids {
		kid, name := &n.kids[i], n.keys[i]
		switch {
		case kid.empty():
		case kid.scalar():
			if w.long(kid) && w.t.From == Result {
				continue
			}
			out = append(out, w.scalarCell(name, kid))
		case kid.kind == '{' && w.inside(kid) && !mapped(kid):
			out = append(out, w.flat(name, kid)...)
		case w.inside(kid):
			out = append(out, w.nested(name, kid))
		case w.t.From == Call:
			c := w.nested(name, kid)
			c.text = Shorten(c.text, insideLimit)
			c.values = w.s.values.words(c.text, w.t.Place, false)
			out = append(out, c)
		}
	}
	return out
}

// flat writes a small object as one cell of its parent.
func (w *walker) flat(name string, n *node) []cell {
	if all(n, (*node).scalar) && len(n.kids) <= 6 {
		text := make([]string, 0, len(n.kids))
		c := cell{label: label(name)}
		plain := true
		for i := range n.kids {
			if n.kids[i].empty() {
				continue
			}
			x := w.scalarCell(n.keys[i], &n.kids[i])
			plain = plain && !x.ident
			text = append(text, strings.TrimSpace(x.label+" "+x.text))
			c.values = append(c.values, x.values...)
		}
		c.text = "[" + strings.Join(text, ", ") + "]"
		return []cell{c}
	}
	return []cell{w.nested(name, n)}
}

func all(n *node, f func(*node) bool) bool {
	for i := range n.kids {
		if !f(&n.kids[i]) {
			return false
		}
	}
	return true
}

// nested writes a list or object inside its row. The first of several like
// objects carries the keys, the others follow its order.
func (w *walker) nested(name string, n *node) cell {
	c := cell{label: label(name)}
	var b strings.Builder
	b.WriteByte('[')
	w.write(&b, &c, n, true)
	b.WriteByte(']')
	c.text = b.String()
	for _, k := range c.values {
		c.idents = c.idents || w.s.values.all[k].ident
	}
	return c
}

func (w *walker) write(b *strings.Builder, c *cell, n *node, keys bool) {
	switch {
	case n.scalar():
		x := w.scalarCell("", n)
		b.WriteString(x.text)
		c.values = append(c.values, x.values...)
	case n.kind == '{':
		kidsAreKeyed := mapped(n)
		sep := false
		for i := range n.kids {
			if n.kids[i].empty() {
				continue
			}
			if sep {
				if kidsAreKeyed {
					b.WriteString("; ")
				} else if keys {
					b.WriteString(", ")
				} else {
					b.WriteByte(' ')
				}
			}
			sep = true
			if kidsAreKeyed {
				if cells := w.cells(&n.kids[i]); !holds(cells, n.keys[i]) {
					b.WriteString(n.keys[i] + " ")
					c.values = append(c.values, w.s.values.leaf(n.keys[i], w.t.Place)...)
				}
				w.write(b, c, &n.kids[i], keys && i == 0)
				continue
			}
			if keys {
				b.WriteString(label(n.keys[i]) + " ")
			}
			if n.kids[i].scalar() {
				from := len(c.values)
				w.write(b, c, &n.kids[i], keys)
				w.s.values.labelled(label(n.keys[i]), c.values[from:], w.t.From == Call)
			} else {
				b.WriteByte('[')
				w.write(b, c, &n.kids[i], keys)
				b.WriteByte(']')
			}
		}
	default:
		for i := range n.kids {
			switch {
			case i > 0 && n.kids[i].scalar():
				b.WriteByte(' ')
			case i > 0:
				b.WriteString("; ")
			}
			like := i == 0 || !sameKeys(&n.kids[0], &n.kids[i])
			w.write(b, c, &n.kids[i], keys && like)
		}
	}
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
	flat := OneLine(text)
	c := cell{label: label(name), whole: text, ident: identifies(flat)}
	c.text = w.s.redact(name, short(flat))
	if n.kind == '"' || n.kind == '0' {
		c.values = w.s.values.leaf(c.text, w.t.Place)
		w.s.values.labelled(c.label, c.values, w.t.From == Call)
	}
	return c
}

// short cuts a text, but never an address or a path.
func short(s string) string {
	if strings.IndexByte(s, ' ') < 0 && len(s) <= addressMax {
		return s
	}
	return Shorten(s, valueLimit)
}

// label writes a key: without the "_id" that its value shows, and in characters
// that cannot be taken for marks of ours.
func label(key string) string {
	for _, end := range []string{"_id", "Id", "ID"} {
		if len(key) > len(end)+1 && strings.HasSuffix(key, end) {
			key = key[:len(key)-len(end)]
			break
		}
	}
	clean := true
	for i := range len(key) {
		c := key[i]
		clean = clean && (c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.' || c == ' ' || c >= utf8.RuneSelf)
	}
	if !clean {
		key = strings.Map(func(r rune) rune {
			switch {
			case r >= '0' && r <= '9', r|0x20 >= 'a' && r|0x20 <= 'z', r == '_', r == '-', r == '.', r == ' ', r > 0xa0 && r != '\u2028' && r != '\u2029':
				return r
			}
			return -1
		}, key)
	}
	return Shorten(strings.Trim(key, " -.>"), 60)
}

// line writes a record, its key first.
func line(cells []cell, keyed bool) string {
	if keyed && len(cells) > 1 {
		return strings.TrimSpace(cells[0].label+" "+cells[0].text) + ": " + joined(cells[1:])
	}
	return joined(cells)
}

func joined(cells []cell) string {
	var b strings.Builder
	for i := range cells {
		if i > 0 {
			b.WriteString(", ")
		}
		if cells[i].label != "" {
			b.WriteString(cells[i].label)
			b.WriteByte(' ')
		}
		b.WriteString(cells[i].text)
	}
	return b.String()
}
