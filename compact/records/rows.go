package records

import (
	"fmt"
	"slices"
	"strings"
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
	head   *item
	of     cell // what identifies it: a value of its own when it is keyed, else what was asked
	keyed  bool
	cost   int // of naming it
	labels []string
	units  []*item
	stale  bool              // a later record of the same thing replaces it
	texts  map[string]string // its values by label
}

// Bounds of what stands inside a line.
const (
	valueLimit  = 80  // of one text, in bytes; identifiers, paths and addresses stay whole up to
	addressMax  = 300 // this
	insideLimit = 600 // of a list or object inside its row
	insideKids  = 24
	wideRow     = 420 // what a record has beyond it stands on a line of its own
	headLimit   = 320 // of the line over records
)

// readOutput makes lines of a tool's output.
func (s *Set) readOutput(t *Text) {
	body := unwrapped(t.Output)
	lead, n, rest, ok := structured(body)
	if !ok {
		s.readLines(t, t.Tool, body)
		return
	}
	defer func() {
		if strings.TrimSpace(rest) != "" {
			s.readLines(t, t.Tool, rest)
		}
	}()
	w := &walker{s: s, t: t, args: s.argCells(t), single: n.kind == '{' && !mapped(&n)}
	if lead != "" {
		w.lead = append(w.lead, cell{text: lead})
	}
	w.walk(&n, t.Tool, nil, 0)
}

// walker reads one output.
type walker struct {
	s      *Set
	t      *Text
	args   []cell
	lead   []cell // stands above the rows
	single bool   // the output is one record
	call   bool   // it reads the arguments of a call
}

// long reports a text that is read line by line instead of as a value.
func (w *walker) long(n *node) bool {
	return n.scalar() && len(n.text) > 2*valueLimit && short(OneLine(n.text[:min(len(n.text), addressMax+1)])) != n.text
}

// walk makes rows of a value: an object is a row, a list of objects one for each.
// above tells the record that it belongs to.
func (w *walker) walk(n *node, name string, above []cell, depth int) {
	switch {
	case n.kind == '[' && objects(n):
		rows := make([]*node, len(n.kids))
		for i := range n.kids {
			rows[i] = &n.kids[i]
		}
		w.list(rows, nil, name, above, depth)
	case n.kind == '{' && mapped(n):
		rows := make([]*node, len(n.kids))
		for i := range n.kids {
			rows[i] = &n.kids[i]
		}
		w.list(rows, n.keys, name, above, depth)
	case n.kind == '{':
		w.list([]*node{n}, nil, name, above, depth)
	case n.kind == '[':
		if lists(n) {
			if track(n) {
				w.track(n, name, above)
				return
			}
			if w.groups(n, name, above) {
				return
			}
			for i := range n.kids {
				w.walk(&n.kids[i], name, above, depth+1)
			}
			return
		}
		w.scalars(n, name, above)
	default:
		if strings.Contains(n.text, "\n") || len(n.text) > valueLimit {
			w.s.readLines(w.t, w.t.Tool, n.text)
			return
		}
		w.emit(name, above, []cell{w.scalarCell("", n)}, -1)
	}
}

// objects reports a list of objects.
func objects(n *node) bool {
	for i := range n.kids {
		if n.kids[i].kind != '{' {
			return false
		}
	}
	return len(n.kids) > 0
}

func lists(n *node) bool {
	for i := range n.kids {
		if n.kids[i].kind != '[' {
			return false
		}
	}
	return len(n.kids) > 0
}

// track reports a long list of numbers in brackets, such as the points of a line:
// they have no names, and nobody asks for one of them.
func track(n *node) bool {
	for i := range n.kids {
		if len(n.kids[i].kids) > 4 || !all(&n.kids[i], func(kid *node) bool { return kid.kind == '0' }) {
			return false
		}
	}
	return len(n.kids) > 12
}

// track tells how such a list begins and ends.
func (w *walker) track(n *node, name string, above []cell) {
	var c cell
	for _, kid := range []*node{&n.kids[0], &n.kids[len(n.kids)-1]} {
		var parts []string
		for i := range kid.kids {
			x := w.scalarCell("", &kid.kids[i])
			parts, c.values = append(parts, x.text), append(c.values, x.values...)
		}
		if c.text != "" {
			c.text += " to "
		}
		c.text += strings.Join(parts, " ")
	}
	c.text += fmt.Sprintf(" (%d points)", len(n.kids))
	w.emit(name, above, []cell{c}, -1)
}

// mapped reports an object that is a list of like objects under their keys.
func mapped(n *node) bool {
	if len(n.kids) < 2 || !objects(n) {
		return false
	}
	first := n.kids[0].keys
	if len(first) == 0 {
		return false
	}
	same := 0
	for i := range n.kids {
		if k := n.kids[i].keys; len(k) > 0 && k[0] == first[0] && len(k) <= 2*len(first)+1 {
			same++
		}
	}
	return same*10 >= len(n.kids)*9
}

// scalars makes rows of a list of plain values, some to a line.
func (w *walker) scalars(n *node, name string, above []cell) {
	const perLine = 12
	for from := 0; from < len(n.kids); from += perLine {
		var c cell
		var parts []string
		for i := from; i < min(len(n.kids), from+perLine); i++ {
			k := w.scalarCell("", &n.kids[i])
			parts = append(parts, k.text)
			c.values = append(c.values, k.values...)
		}
		c.text = strings.Join(parts, " ")
		w.emit(name, above, []cell{c}, -1)
	}
}

// list makes a row of each object. Values that are equal in all rows are lifted
// into the line above them.
func (w *walker) list(rows []*node, keys []string, name string, above []cell, depth int) {
	made := make([][]cell, len(rows))
	for i, n := range rows {
		made[i] = w.cells(n)
		if keys != nil && !holds(made[i], keys[i]) {
			made[i] = append([]cell{{label: "", text: keys[i], whole: keys[i], ident: true, values: w.s.values.leaf(keys[i], w.t.Place)}}, made[i]...)
		}
	}
	lead := above
	if len(made) > 2 {
		lead = append(append([]cell{}, above...), lift(made)...)
	}
	key := keyColumn(made)
	if len(made) == 1 && len(w.args) > 0 && !w.repeats(made[0]) {
		key = "\x00" // what was asked tells what the record is
	}
	for i, n := range rows {
		k := -1
		for j := range made[i] {
			if made[i][j].label == key && made[i][j].ident {
				k = j
				break
			}
		}
		if len(made[i]) > 0 {
			w.emit(name, lead, made[i], k)
		}
		for j := range n.kids {
			if w.long(&n.kids[j]) {
				w.s.readLines(w.t, w.t.Tool, n.kids[j].text)
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

// repeats reports whether a record holds one of the arguments that it answers.
func (w *walker) repeats(cells []cell) bool {
	for i := range w.args {
		if holds(cells, w.args[i].whole) {
			return true
		}
	}
	return false
}

func holds(cells []cell, v string) bool {
	for i := range cells {
		if cells[i].whole == v {
			return true
		}
	}
	return false
}

// lift takes the cells that are equal in all rows out of them.
func lift(rows [][]cell) []cell {
	var same []cell
	for _, c := range rows[0] {
		if c.label == "" {
			continue
		}
		everywhere := true
		for _, r := range rows[1:] {
			found := false
			for i := range r {
				found = found || r[i].label == c.label && r[i].text == c.text
			}
			if everywhere = found; !found {
				break
			}
		}
		if everywhere {
			same = append(same, c)
		}
	}
	if len(same) == len(rows[0]) {
		return nil
	}
	for _, c := range same {
		for i, r := range rows {
			kept := r[:0]
			for _, x := range r {
				if x.label != c.label {
					kept = append(kept, x)
				}
			}
			rows[i] = kept
		}
	}
	return same
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
	if w.t.Kept {
		for i := range cells {
			s.cover(cells[i].values)
		}
		if key >= 0 { // an earlier record of it is stale
			if old := s.newest[identity{cells[key].label, cells[key].text}]; old != nil {
				old.stale = true
			}
		}
		return
	}
	r := &row{head: w.head(name, cells, lead), texts: map[string]string{}}
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
	if len(cells) == 1 && cells[0].label == "" && strings.Contains(cells[0].shape, "\n") { // a group
		w.unit(r, &item{text: cells[0].text, bare: cells[0].bare, shape: r.head.text + cells[0].shape, values: cells[0].values})
		return
	}
	var own []cell
	for i := range cells {
		c := &cells[i]
		r.labels, r.texts[c.label] = append(r.labels, c.label), c.text
		switch {
		case i == key:
		case len(c.parts) == 0:
			own = append(own, *c)
		}
	}
	for len(own) > 0 || len(r.units) == 0 && r.keyed {
		first, rest := byRoom(own, wideRow)
		u := &item{text: joined(first), bare: bareLine(first), shape: shapeOf(r, first)}
		for i := range first {
			u.values = append(u.values, first[i].values...)
		}
		w.unit(r, u)
		own = rest
	}
	for i := range cells {
		for _, p := range cells[i].parts {
			w.unit(r, p)
		}
	}
	if r.keyed {
		id := identity{r.of.label, r.of.text}
		old := s.newest[id]
		if old != nil && replaces(r, old) {
			old.stale = true
			w.changed(r, old, cells)
		} else if old == nil {
			w.changed(r, nil, cells)
		}
		s.newest[id] = r
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
	if u.label != "" {
		u.labelCost = w.s.o.Count(u.label) + 1
	}
	if r.keyed {
		u.values = append(u.values, r.of.values...)
	}
}

// replaces reports whether a later record has most of the columns of an earlier
// one of the same thing.
func replaces(now, before *row) bool {
	has := 0
	for _, l := range before.labels {
		if slices.Contains(now.labels, l) {
			has++
		}
	}
	return has*10 >= len(before.labels)*7
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
	return w.s.headOf(name, append(append(cells, w.lead...), lead...), w.t.Place)
}

func (s *Set) headOf(name string, cells []cell, place int) *item {
	text := "# " + label(name)
	if len(cells) > 0 {
		text = Shorten(text+": "+joined(cells), headLimit)
	}
	if it := s.heads[text]; it != nil {
		return it
	}
	it := &item{kind: headItem, place: place, text: text}
	for i := range cells {
		it.values = append(it.values, cells[i].values...)
	}
	s.heads[text] = s.add(it)
	return it
}
