package records

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Selection are the lines that were taken.
type Selection struct {
	// Records are the lines from tools: tables, quotes and calls, in the order of
	// the conversation.
	Records []string
	// Said are lines of people and the assistant.
	Said []string
	// Tokens is about what they cost.
	Tokens int
}

// Own reports whether a line over records holds nothing but what the assistant asked.
func (s *Set) Own(line string) bool {
	if it := s.heads[line]; it != nil {
		return it.own
	}
	if i := strings.LastIndex(line, " ("); i > 0 { // how many of how many stand below
		it := s.heads[line[:i]]
		return it != nil && it.own
	}
	return false
}

// ranked is a candidate in the heap.
type ranked struct {
	it    *item
	ratio float64
}

type heapOf []ranked

func (h heapOf) Len() int { return len(h) }
func (h heapOf) Less(i, j int) bool {
	return h[i].ratio > h[j].ratio || h[i].ratio == h[j].ratio && h[i].it.order > h[j].it.order
}
func (h heapOf) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *heapOf) Push(x any)   { *h = append(*h, x.(ranked)) }
func (h *heapOf) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// Select takes what is most worth its space within room tokens: units of records,
// lines, and single values behind their label. Something is worth the sum of its
// values' weights; those that stand somewhere already count little, so that what
// is new comes first. It may be called again.
func (s *Set) Select(room int) Selection {
	c := &choice{s: s, weights: s.weigh(), stands: make([]float64, len(s.values.all)), taken: map[*item]bool{}, shapes: map[string]bool{}, pool: map[string][]*item{}, eager: min(1, max(0, float64(room-eagerFrom)/(eagerTo-eagerFrom))), scarce: room < keyRoom, bare: room < headRoom}
	for i := range s.values.all {
		c.stands[i] = 1
		if s.values.all[i].covered {
			c.stands[i] = s.rank.Covered
		}
	}
	c.about, c.lines = c.spoken(), c.spokenLines()
	c.choose(room)
	return c.write()
}

// choice is a selection in the making.
type choice struct {
	s       *Set
	weights []float64
	stands  []float64 // the share of a value's weight that is left, for it stands somewhere
	taken   map[*item]bool
	shapes  map[string]bool    // of the units taken
	pool    map[string][]*item // single values, by label
	labels  []string           // of the pool, in order
	used    int
	about   map[*row]bool  // what stays speaks of them
	lines   map[*item]bool // and of these lines of other outputs
	eager   float64        // how far what the next step is about comes first, from 0 to 1
	scarce  bool           // nested keys are left out
	bare    bool           // heads as well
}

// Rooms in tokens from which the keys of nested objects are named, and from which
// each record stands below the tool that gave it.
const (
	keyRoom  = 600
	headRoom = 160
	// Where less than eagerFrom is left, many things are named rather than few told
	// whole; from eagerTo on, what the next step is about comes first.
	eagerFrom, eagerTo = 100, 400
)

// wholeWorth is what a row of a list that is wanted whole is worth more, headedWorth
// what a heading with what identifies it is, takesWorth what can be called is,
// askedWorth what a part of a record is that the request names by a word.
const (
	takesWorth  = 4
	wholeWorth  = 2
	headedWorth = 3
	askedWorth  = 2
)

func (c *choice) worth(it *item) float64 {
	sum := 0.0
	for i, k := range it.values {
		if !slices.Contains(it.values[:min(i, 24)], k) {
			if it.row != nil && it.row.whole || c.lines[it] {
				sum += wholeWorth * c.weights[k]
			} else {
				sum += c.stands[k] * c.weights[k]
			}
		}
	}
	switch r := &c.s.rank; it.kind {
	case assistantItem:
		sum *= r.Said * max(1, it.near)
	case quoteItem:
		sum *= r.Quote * max(1, it.near)
	case userItem:
		sum *= r.Asked
	case headItem:
		sum *= r.Head
	case singleItem:
		if sum *= r.Single; it.label == "also" {
			sum *= r.Unlabelled
		}
	}
	if it.row != nil && it.row.headed && it == it.row.units[0] {
		sum *= headedWorth
	}
	if it.row != nil && it.row.takes && it == it.row.units[0] {
		sum *= takesWorth
	}
	if it.row != nil && c.about[it.row] || c.lines[it] {
		sum *= 1 + c.eager*(c.s.rank.Focus-1)
	}
	if it.kind != singleItem && c.s.fresh[it.place] {
		sum *= 1 + c.eager*(c.s.rank.Fresh-1)
	}
	if it.asked {
		sum *= 1 + c.eager*(askedWorth-1)
	}
	if it.carried { // an earlier selection thought it worth its space
		sum *= c.s.rank.Carried
	}
	return sum
}

// spoken finds the records that what stays speaks of: it names them, or so many of
// their values that no other record below the same head is meant.
func (c *choice) spoken() map[*row]bool {
	about, rarity := map[*row]bool{}, map[*item]map[int32]int{}
	var rows []*row
	for _, it := range c.s.items {
		if r := it.row; r != nil && !r.stale && r.units[0] == it {
			rows = append(rows, r)
		}
	}
	for _, r := range rows {
		about[r] = r.keyed && slices.ContainsFunc(r.of.values, func(k int32) bool { return c.s.values.all[k].focus })
		if rarity[r.head] == nil {
			rarity[r.head] = map[int32]int{}
		}
		for k := range c.named(r) {
			rarity[r.head][k]++
		}
	}
	for _, r := range rows {
		sum := 0.0
		for k := range c.named(r) {
			sum += 1 / float64(rarity[r.head][k])
		}
		about[r] = about[r] || sum >= meant && r.head.rows > 1 || r.takes && sum >= 1
	}
	return about
}

// spokenLines finds the lines of other outputs, which nobody has answered yet, that
// what stays speaks of: they hold words of it that hardly another line below the same
// head has.
func (c *choice) spokenLines() map[*item]bool {
	rarity, lines := map[*item]map[int32]int{}, map[*item]bool{}
	each := func(f func(it *item, of map[int32]int, k int32)) {
		for _, it := range c.s.items {
			if it.kind != quoteItem || it.head == nil || !c.s.fresh[it.place] {
				continue
			}
			if rarity[it.head] == nil {
				rarity[it.head] = map[int32]int{}
			}
			for _, k := range it.values {
				if v := &c.s.values.all[k]; v.focus && len(v.text) > 3 {
					f(it, rarity[it.head], k)
				}
			}
		}
	}
	each(func(_ *item, of map[int32]int, k int32) { of[k]++ })
	sums := map[*item]float64{}
	each(func(it *item, of map[int32]int, k int32) {
		sums[it] += 1 / float64(of[k])
		lines[it] = sums[it] >= meant
	})
	return lines
}

// meant is how many values that no other record has make it clear which is meant.
const meant = 2

// named lists the values of a record that what stays names.
func (c *choice) named(r *row) map[int32]bool {
	ks := map[int32]bool{}
	for _, u := range r.units {
		for _, k := range u.values {
			if c.s.values.all[k].focus && len(c.s.values.all[k].text) > 2 {
				ks[k] = true
			}
		}
	}
	return ks
}

// cost is what a line costs with what must stand around it.
func (c *choice) cost(it *item) int {
	n := it.cost
	if c.unkeyed(it, c.shapes) {
		n = it.bareCost
	}
	if it.row != nil {
		first, named := true, false
		for _, u := range it.row.units {
			if c.taken[u] {
				first = false
				named = named || u.label == it.label
			}
		}
		if first {
			n += it.row.cost
		}
		if !named {
			n += it.labelCost
		}
	}
	if it.kind == singleItem && c.pool[it.label] == nil {
		n += it.labelCost
	}
	if head := c.headOf(it); head != nil && !c.taken[head] {
		n += head.cost
	}
	return n
}

// headOf is the line that must stand above another. Where room is very scarce a
// record that says what it is needs none.
func (c *choice) headOf(it *item) *item {
	if c.bare && it.row != nil && it.row.keyed {
		return nil
	}
	return it.head
}

// unkeyed reports a unit that is written without its keys: below another of its
// shape, and inside a record also where room is scarce.
func (c *choice) unkeyed(u *item, shapes map[string]bool) bool {
	return u.shape != "" && (shapes[u.shape] || u.label != "" && c.scarce)
}

func (c *choice) ratio(it *item) float64 {
	n := c.cost(it)
	if it.label != "" && it.shape != "" && !c.unkeyed(it, c.shapes) {
		n += it.bareCost - it.cost // those that follow need no keys
	}
	return c.worth(it) / math.Pow(float64(n), c.s.rank.Power)
}

// singles are the values that may be named alone.
func (c *choice) singles() []*item {
	var out []*item
	for i := range c.s.values.all {
		v := &c.s.values.all[i]
		if v.covered || !v.held || !v.ident && !v.code || len(v.text) > addressMax {
			continue
		}
		it := &item{kind: singleItem, text: v.text, label: "also", order: -i, values: []int32{int32(i)}, cost: c.s.o.Count(v.text) + 1}
		if v.label >= 0 {
			it.label = c.s.values.names[v.label]
		}
		it.labelCost = c.s.o.Count(it.label) + 1
		out = append(out, it)
	}
	return out
}

// choose takes the best, one by one, until the room is full.
func (c *choice) choose(room int) {
	var h heapOf
	for _, of := range [][]*item{c.s.items, c.singles()} {
		for _, it := range of {
			if it.row == nil || !it.row.stale {
				if r := c.ratio(it); r > 0 {
					h = append(h, ranked{it, r})
				}
			}
		}
	}
	heap.Init(&h)
	misses := 0
	for len(h) > 0 && misses < 200 {
		top := h[0]
		now := c.ratio(top.it)
		if now < top.ratio*0.999 {
			h[0].ratio = now
			heap.Fix(&h, 0)
			continue
		}
		heap.Pop(&h)
		switch single := top.it.kind == singleItem; {
		case single && (c.stands[top.it.values[0]] < 1 || top.it.label == "also" && len(c.pool["also"]) >= maxAlso):
		case c.used+c.cost(top.it) > room:
			misses++
		default:
			c.take(top.it)
		}
	}
}

// maxAlso bounds how many values are named without any label.
const maxAlso = 24

func (c *choice) take(it *item) {
	c.used += c.cost(it)
	c.shapes[it.shape] = true
	if it.kind == singleItem {
		if c.pool[it.label] == nil {
			c.labels = append(c.labels, it.label)
		}
		c.pool[it.label] = append(c.pool[it.label], it)
		c.stands[it.values[0]] = c.s.rank.Alone
		return
	}
	for _, x := range []*item{it, c.headOf(it)} {
		if x == nil || c.taken[x] {
			continue
		}
		c.taken[x] = true
		for _, k := range x.values {
			if c.stands[k] == c.s.rank.Alone {
				c.used -= c.s.o.Count(c.s.values.all[k].text) + 1 // it need not be named alone
			}
			c.stands[k] = c.s.rank.Covered
		}
	}
}

// write puts the lines in the order of the conversation, records under their head.
func (c *choice) write() Selection {
	var out Selection
	var heads []*item
	under, shapes, written, rows := map[*item][]string{}, map[string]bool{}, map[*row]bool{}, map[*item]int{}
	for _, it := range c.s.items {
		head, text := c.headOf(it), it.text
		switch {
		case !c.taken[it] || written[it.row]:
			continue
		case it.kind == userItem || it.kind == assistantItem:
			out.Said = append(out.Said, it.text)
			continue
		case it.kind == headItem || head == nil:
			head = it
		}
		if it.row != nil {
			written[it.row] = true
			rows[head]++
			text = c.rowText(it.row, shapes)
		}
		if under[head] == nil {
			heads = append(heads, head)
			under[head] = []string{}
			if head != it || it.row == nil {
				under[head] = append(under[head], head.text)
			}
		}
		if head != it || it.row != nil {
			under[head] = append(under[head], text)
		}
	}
	for _, head := range heads {
		if lines := under[head]; len(lines) == 1 && head.kind == headItem { // nothing stands below
			lines[0] = "called " + strings.TrimPrefix(lines[0], "# ")
		} else if n := rows[head]; n > 0 && head.rows > 2 && n < head.rows && head.kind == headItem {
			lines[0] += fmt.Sprintf(" (%d of %d)", n, head.rows) // who chooses must know that there is more
		}
		out.Records = append(out.Records, under[head]...)
	}
	for _, l := range c.labels {
		text, sep := l, " "
		for _, it := range c.pool[l] {
			if c.stands[it.values[0]] == c.s.rank.Alone {
				text += sep + c.s.redact(l, it.text)
				if sep = " "; strings.Contains(it.text, " ") {
					sep = "; "
				}
			}
		}
		if text != l {
			out.Records = append(out.Records, text)
		}
	}
	out.Tokens = c.used
	return out
}

// rowText writes what was taken of a record, behind what identifies it.
func (c *choice) rowText(r *row, shapes map[string]bool) string {
	var cells []cell
	bare, left := false, map[string]int{} // objects of a list that were not taken, by its name
	for _, u := range r.units {
		if !c.taken[u] || u.text == "" {
			if u.label != "" && u.text != "" {
				left[u.label]++
			}
			continue
		}
		if u.label == "" {
			x := cell{text: u.text}
			if c.unkeyed(u, shapes) {
				x.text, bare = u.bare, true
			}
			cells = append(cells, x)
			shapes[u.shape] = true
			continue
		}
		text := u.text
		if c.unkeyed(u, shapes) {
			text = u.bare
		}
		shapes[u.shape] = true
		if n := len(cells) - 1; n >= 0 && cells[n].label == u.label {
			cells[n].text += "; " + text
		} else {
			cells = append(cells, cell{label: u.label, text: text})
		}
	}
	for i := range cells {
		if n := left[cells[i].label]; n > 0 {
			cells[i].text += fmt.Sprintf("; %d more", n)
		}
		if cells[i].label != "" && strings.Contains(cells[i].text, " ") {
			cells[i].text = "[" + cells[i].text + "]"
		}
	}
	text := joined(cells)
	if bare && len(cells) > 1 {
		text = strings.Replace(text, ", ", " | ", 1)
	}
	name := strings.TrimSpace(r.of.label + " " + r.of.text)
	switch {
	case r.of.text == "" || !r.keyed && strings.HasPrefix(r.head.text, "# "):
		return text
	case text == "":
		return name
	}
	return name + ": " + text
}
