package records

import (
	"slices"
	"strings"

	"memoryd/internal/reading"
	"memoryd/internal/textsafe"
)

// cell is one value of a record, as it is written.
type cell struct {
	label, text string
	values      []int32
	ident       bool   // it looks like an identifier
	whole       string // the value as it came, for scalars
	// bare is the text without the keys of nested objects, for a row that follows
	// another of the same shape; shape tells which have it.
	bare, shape string
	parts       []*item // the objects in a list, each a unit of the record
}

// row is a record.
type row struct {
	head  *item
	of    cell // what identifies it: a value of its own when it is keyed, else what was asked
	keyed bool
	cost  int // of naming it
	units []*item
	texts map[string]string // its values by label
}

// Bounds of what stands inside a line.
const (
	valueLimit  = 80  // of one text, in bytes; identifiers, paths and addresses stay whole up to
	addressMax  = 300 // this
	insideLimit = 600 // of a list or object inside its row
	insideKids  = 24
	headLimit   = 320 // of the line over records
)

// readOutput makes lines of a tool's output, which answers the arguments.
func (s *Set) readOutput(t *Text, args []cell) {
	w := &walker{s: s, t: t, args: args}
	body := reading.Inside(t.Output)
	n, ok := parseJSON(body)
	if !ok || len(n.kids) == 0 {
		w.readLines(body)
		return
	}
	w.walk(&n, t.Tool, nil, 0)
}

// walker reads one output.
type walker struct {
	s    *Set
	t    *Text
	args []cell
	one  bool // the output is one record
	call bool // it reads the arguments of a call
}

// long reports a text that is read line by line instead of as a value.
func (w *walker) long(n *node) bool {
	if !n.scalar() || len(n.text) <= 2*valueLimit {
		return false
	}
	return short(textsafe.Visible(n.text[:min(len(n.text), addressMax+1)])) != n.text
}

// walk makes rows of an object or a list: an object is a row, a list of objects one for each.
// above tells the record that it belongs to.
func (w *walker) walk(n *node, name string, above []cell, depth int) {
	switch {
	case objects(n) && (n.kind == '[' || len(n.kids) > 1): // of an object each is under its name
		w.one = false
		rows := make([]*node, len(n.kids))
		for i := range n.kids {
			if rows[i] = &n.kids[i]; n.kind == '{' && !rows[i].holds(n.keys[i]) {
				own := []node{{kind: '"', text: n.keys[i]}}
				rows[i] = &node{kind: '{', keys: append([]string{""}, rows[i].keys...), kids: append(own, rows[i].kids...)}
			}
		}
		w.list(rows, name, above, depth)
	case n.kind == '{':
		w.one = depth == 0
		w.list([]*node{n}, name, above, depth)
	default:
		for i := range n.kids {
			switch kid := &n.kids[i]; {
			case kid.scalar():
				w.emit(name, above, []cell{w.scalarCell("", kid)}, -1)
			case kid.kind == '[' && objects(kid) && w.inside(kid): // belongs together, such as the legs of a connection
				c := w.nested("", kid)
				w.emit(name, above, []cell{{text: strings.Trim(c.text, "[]"), bare: strings.Trim(c.bare, "[]"), shape: c.shape, values: c.values}}, -1)
			default:
				w.walk(kid, name, above, depth+1)
			}
		}
	}
}

// objects reports a list of objects.
func objects(n *node) bool {
	return len(n.kids) > 0 && all(n, func(kid *node) bool { return kid.kind == '{' })
}

// list makes a row of each object. Values that are equal in all rows are lifted
// into the line above them.
func (w *walker) list(rows []*node, name string, above []cell, depth int) {
	made := make([][]cell, len(rows))
	for i, n := range rows {
		made[i] = w.cells(n)
	}
	key := keyColumn(made)
	if len(made) == 1 && len(w.args) > 0 && !slices.ContainsFunc(w.args, func(a cell) bool { return holds(made[0], a.whole) }) {
		key = "\x00" // the record repeats no argument: what was asked tells what it is
	}
	for i, n := range rows {
		k := slices.IndexFunc(made[i], func(c cell) bool { return c.label == key && c.ident })
		if len(made[i]) > 0 {
			w.emit(name, above, made[i], k)
		}
		for j := range n.kids {
			if w.long(&n.kids[j]) {
				w.readLines(n.kids[j].text)
			}
			if kid := &n.kids[j]; !kid.scalar() && !kid.empty() && !w.inside(kid) {
				var of []cell
				if k >= 0 {
					of = []cell{made[i][k]}
				} else if len(made[i]) > 0 {
					of = made[i][:1]
				}
				if depth < maxDepth {
					w.walk(kid, name+" "+n.keys[j], of, depth+1)
				}
			}
		}
	}
}

func holds(cells []cell, v string) bool {
	return slices.ContainsFunc(cells, func(c cell) bool { return c.whole == v })
}

// keyColumn is the label of the column that tells the rows apart: the first whose
// values look like identifiers and are all different.
func keyColumn(rows [][]cell) string {
	for _, c := range rows[0] {
		if !c.ident || c.label == "" && len(rows) == 1 {
			continue
		}
		seen := map[string]bool{}
		for _, r := range rows {
			for i := range r {
				if r[i].label == c.label {
					seen[r[i].text] = true
					break
				}
			}
		}
		if len(seen) == len(rows) {
			return c.label
		}
	}
	return "\x00"
}

// inside reports whether a nested value stays in the row of its record.
func (w *walker) inside(n *node) bool {
	kids, size := 0, 0
	var count func(n *node, depth int) bool
	count = func(n *node, depth int) bool {
		if n.scalar() {
			if w.long(n) { // is read line by line
				return false
			}
			kids++
			size += min(len(n.text), valueLimit) + 1
			return kids <= insideKids && size <= insideLimit
		}
		if depth > 3 {
			return false
		}
		for i := range n.kids {
			if !count(&n.kids[i], depth+1) {
				return false
			}
		}
		return true
	}
	return count(n, 0)
}

// emit makes a record: its own values are one unit that may be chosen, each
// object or list inside is another.
func (w *walker) emit(name string, lead []cell, cells []cell, key int) {
	s := w.s
	if len(cells) == 1 {
		key = -1 // it says nothing but what identifies it
	}
	if w.t.Kept {
		for i := range cells {
			s.cover(cells[i].values)
		}
		if key >= 0 {
			s.supersede(identity{cells[key].label, cells[key].text}, cells)
		}
		return
	}
	r := &row{head: w.head(name, cells, lead), texts: make(map[string]string, len(cells))}
	r.head.rows++
	switch {
	case key >= 0:
		r.of, r.keyed = cells[key], true
	case len(lead) > 0:
		r.of = lead[0]
	case len(w.args) > 0:
		r.of = w.args[0]
	}
	if r.of.text != "" {
		r.cost = s.o.Count(r.of.label+" "+r.of.text) + 1
	}
	own := make([]cell, 0, len(cells))
	for i, c := range cells {
		if r.texts[c.label] = c.text; i != key && len(c.parts) == 0 {
			own = append(own, c)
		}
	}
	if len(own) > 0 {
		u := &item{cells: own}
		u.write(r)
		w.unit(r, u)
	}
	for i := range cells {
		for _, p := range cells[i].parts {
			w.unit(r, p)
		}
	}
	if r.keyed {
		id := identity{r.of.label, r.of.text}
		old := s.newest[id]
		s.supersede(id, cells)
		w.changed(r, old, cells)
		s.newest[id] = r
	}
}

// write gives a unit the text and the values of its cells.
func (u *item) write(r *row) {
	u.text, u.bare, u.shape, u.values = joined(u.cells), bareLine(u.cells), shapeOf(r, u.cells), nil
	for i := range u.cells {
		u.values = append(u.values, u.cells[i].values...)
	}
}

// supersede takes out of the newest record of a thing what a later one says of it.
func (s *Set) supersede(id identity, now []cell) {
	old := s.newest[id]
	if old == nil {
		return
	}
	again := func(label string) bool {
		return label != id.key && slices.ContainsFunc(now, func(c cell) bool { return c.label == label })
	}
	for _, u := range old.units {
		before := len(u.cells)
		u.cells = slices.DeleteFunc(u.cells, func(c cell) bool { return again(c.label) })
		switch {
		case u.label != "" && again(u.label), before > 0 && len(u.cells) == 0:
			u.stale = true
		case len(u.cells) < before:
			u.write(old)
			u.values = append(u.values, old.of.values...)
			u.cost, u.bareCost = s.o.Count(u.text)+1, s.o.Count(u.bare)+1
		}
	}
}

// unit adds a unit of a record.
func (w *walker) unit(r *row, u *item) {
	u.kind, u.place, u.head, u.row = rowItem, w.t.Place, r.head, r
	r.units = append(r.units, u)
	w.s.add(u)
	if u.bare != "" {
		u.bareCost = w.s.o.Count(u.bare) + 1
	}
	if r.keyed {
		u.values = append(u.values, r.of.values...)
	}
}

// head gives the line over records of one kind: the tool, the arguments that the
// records do not repeat, and what is equal in all of them.
func (w *walker) head(name string, row, lead []cell) *item {
	var cells []cell
	for _, a := range w.args {
		if !holds(row, a.whole) && !holds(lead, a.whole) && a.text != "" {
			cells = append(cells, a)
		}
	}
	text := headMark + label(name)
	if cells = append(cells, lead...); len(cells) > 0 {
		text += ": " + joined(cells)
	}
	text = shorten(text, headLimit)
	key := text
	if strings.Contains(text, "…") { // calls may differ in what is cut off
		key += w.t.Body
	}
	it := w.s.heads[key]
	if it == nil {
		it = w.s.add(&item{kind: headItem, place: w.t.Place, text: text})
		for i := range cells {
			it.values = append(it.values, cells[i].values...)
			it.things = append(it.things, cells[i].whole)
		}
		w.s.heads[key] = it
	}
	return it
}
