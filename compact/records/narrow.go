package records

import (
	"cmp"
	"slices"
	"strings"
)

// column is what the rows of a list have under one name; a member of a nested
// object is a column of its own, "prices.economy".
type column struct {
	name   string
	width  int // of its values, in bytes
	values map[string]bool
	idents int
	rank   int // those with less go first
}

// freshShare of the room is what a list may take that nobody has answered yet:
// where its rows need more, columns that nobody asked for make room for all rows.
const freshShare = 0.55

// narrow takes columns out of the rows of a list that nobody has answered yet, as
// many as it takes for all rows to have room: who has to choose must see them all.
// What identifies a row and what is asked for stay longest, then figures; left
// names the columns that went.
func (w *walker) narrow(rows []*node) (narrowed []*node, left []cell) {
	s := w.s
	if len(rows) < 3 || s.o.Room == 0 || w.t.Kept || !s.fresh[w.t.Place] {
		return rows, nil
	}
	by := map[string]*column{}
	var order []*column
	var sample strings.Builder
	for _, n := range rows {
		n.columns("", 0, func(name string, v *node) {
			c := by[name]
			if c == nil {
				c = &column{name: name, values: map[string]bool{}, rank: s.rankOf(name, v)}
				by[name], order = c, append(order, c)
			}
			flat := OneLine(v.text)
			c.width += len(short(flat)) + 2
			c.values[flat] = true
			if sample.Len() < 4000 {
				sample.WriteString(short(flat) + " | ")
			}
			if identifies(flat) {
				c.idents++
			}
		})
	}
	size, varied, first := 0, 0, true
	asked := map[string]bool{}
	for _, c := range order {
		asked[c.object()] = asked[c.object()] || c.rank == askedColumn
		if 2*c.idents >= len(rows) {
			if c.rank = max(c.rank, identColumn); first {
				c.rank, first = keyColumns, false
			}
		}
		if len(c.values) == 1 {
			c.width = 0 // it is named once for all
		} else {
			varied++
		}
		size += c.width
	}
	for _, c := range order {
		if c.object() != "" && c.rank < identColumn && asked[c.object()] {
			c.rank = rivalColumn
		}
	}
	most := int(freshShare * float64(s.o.Room) * float64(sample.Len()) / float64(max(1, s.o.Count(sample.String()))))
	slices.SortStableFunc(order, func(a, b *column) int { return cmp.Or(a.rank-b.rank, b.width-a.width) })
	w.whole = size > most || 2*size < most // one in between has its rows beside other records
	gone := map[string]bool{}
	var names []string
	for _, c := range order {
		if size <= most || c.rank == keyColumns || varied < 3 {
			break // something must stand beside what identifies a row
		}
		if c.width > 0 {
			varied--
			gone[c.name] = true
			if leaf := c.name[strings.LastIndexByte(c.name, '.')+1:]; !slices.Contains(names, leaf) {
				names = append(names, leaf)
			}
			size -= c.width
		}
	}
	if len(gone) == 0 {
		return rows, nil
	}
	for _, n := range rows {
		narrowed = append(narrowed, n.without("", 0, gone))
	}
	return narrowed, []cell{{text: Shorten("left out: "+strings.Join(names, " "), valueLimit)}}
}

// The ranks of columns, those first that go first: what stands beside the member of
// an object that the request names, then what it does not name.
const (
	rivalColumn = iota
	otherColumn
	figureColumn
	identColumn
	askedColumn
	keyColumns // the first that identifies a row
)

// object is the name of the object whose member the column is, "" for none.
func (c *column) object() string { return c.name[:max(0, strings.LastIndexByte(c.name, '.'))] }

// rankOf tells a column by its name and a value of it.
func (s *Set) rankOf(name string, v *node) int {
	leaf := name[strings.LastIndexByte(name, '.')+1:]
	words, named := 0, 0
	for w := range strings.FieldsFuncSeq(leaf, func(r rune) bool { return r == '_' || r == '-' || r == ' ' }) {
		if words++; s.asked[stem(w)] {
			named++
		}
	}
	switch {
	case words > 0 && named == words:
		return askedColumn
	case named > 0 || v.kind == '0':
		return figureColumn
	}
	return otherColumn
}

// stem makes a word comparable: lower case, without the s of a plural.
func stem(w string) string {
	if w = strings.ToLower(w); len(w) > 3 {
		w = strings.TrimSuffix(w, "s")
	}
	return w
}

// columns calls f for each plain value of an object and of the objects in it.
func (n *node) columns(under string, depth int, f func(name string, v *node)) {
	for i := range n.kids {
		kid, name := &n.kids[i], under
		if n.kind == '{' {
			if name = n.keys[i]; under != "" {
				name = under + "." + n.keys[i]
			}
		}
		switch {
		case kid.empty():
		case kid.scalar():
			f(name, kid)
		case depth < 3:
			kid.columns(name, depth+1, f)
		}
	}
}

// without is the object without some of its columns.
func (n *node) without(under string, depth int, gone map[string]bool) *node {
	out := &node{kind: n.kind, text: n.text, raw: n.raw}
	for i := range n.kids {
		kid, name := n.kids[i], under
		if n.kind == '{' {
			if name = n.keys[i]; under != "" {
				name = under + "." + n.keys[i]
			}
		}
		if kid.scalar() && gone[name] {
			continue
		}
		if !kid.scalar() && depth < 3 {
			kid = *kid.without(name, depth+1, gone)
		}
		if n.kind == '{' {
			out.keys = append(out.keys, n.keys[i])
		}
		out.kids = append(out.kids, kid)
	}
	return out
}
