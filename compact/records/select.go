package records

import (
	"container/heap"
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

// Select takes the lines most worth their space within room tokens. A line is
// worth the sum of its values' weights; those that stand somewhere already count
// little, so that what is new comes first. Whole lines are taken by worth over the
// root of their cost, then single values of what is left out by worth over cost.
// It may be called again.
func (s *Set) Select(room int) Selection {
	c := &choice{s: s, weights: s.weigh(), covered: make([]bool, len(s.values.all)), taken: map[*item]bool{}, byRow: map[*row]*part{}, byLabel: map[string]*part{}}
	for i := range s.values.all {
		c.covered[i] = s.values.all[i].covered
	}
	c.lines(int(s.rank.Rows * float64(room)))
	c.singles(room - c.used)
	return c.write()
}

// choice is a selection in the making.
type choice struct {
	s       *Set
	weights []float64
	covered []bool
	taken   map[*item]bool
	parts   []*part // single values of lines that were not taken
	byRow   map[*row]*part
	byLabel map[string]*part
	used    int
}

func (c *choice) worth(it *item) float64 {
	sum := 0.0
	for i, k := range it.values {
		switch {
		case slices.Contains(it.values[:min(i, 24)], k):
		case c.covered[k]:
			sum += c.s.rank.Covered * c.weights[k]
		default:
			sum += c.weights[k]
		}
	}
	switch it.kind {
	case assistantItem:
		sum *= c.s.rank.Said
	case quoteItem:
		sum *= c.s.rank.Quote
	case userItem:
		sum *= c.s.rank.Asked
	}
	if it.carried { // an earlier selection thought it worth its space
		sum *= c.s.rank.Carried
	}
	return sum
}

// cost is what a line costs with the lines that it needs above it.
func (c *choice) cost(it *item) int {
	n := it.cost
	for over := it.head; over != nil && !c.taken[over]; over = over.head {
		n += over.cost
	}
	return n
}

func (c *choice) ratio(it *item) float64 {
	return c.worth(it) / math.Pow(float64(c.cost(it)), c.s.rank.Power)
}

func (c *choice) lines(room int) {
	h := make(heapOf, 0, len(c.s.items))
	for _, it := range c.s.items {
		if !it.stale && (it.head == nil || !it.head.stale) {
			if r := c.ratio(it); r > 0 {
				h = append(h, ranked{it, r})
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
		if c.used+c.cost(top.it) > room {
			misses++
			continue
		}
		c.take(top.it)
	}
}

func (c *choice) take(it *item) {
	c.used += c.cost(it)
	for x := it; x != nil && !c.taken[x]; x = x.head {
		c.taken[x] = true
		for _, k := range x.values {
			c.covered[k] = true
		}
	}
}

// singles names values of records that were not taken, those of one record
// together behind what identifies it.
func (c *choice) singles(room int) {
	type one struct {
		k     int32
		ratio float64
		cost  int
	}
	var list []one
	for i := range c.s.values.all {
		v := &c.s.values.all[i]
		if c.covered[i] || !v.ident && !v.code || v.where.it == nil || len(v.text) > addressMax {
			continue
		}
		cost := c.s.o.Count(v.text) + 1
		list = append(list, one{int32(i), c.weights[i] / float64(cost), cost})
	}
	slices.SortStableFunc(list, func(a, b one) int {
		switch {
		case a.ratio > b.ratio:
			return -1
		case a.ratio < b.ratio:
			return 1
		}
		return int(b.k - a.k)
	})
	misses := 0
	for _, x := range list {
		if c.covered[x.k] {
			continue
		}
		p := c.partOf(c.s.values.all[x.k].where)
		cost := x.cost + c.opening(p, c.s.values.all[x.k].where.label)
		if p.row == nil && p.label == "" && len(p.values[""]) >= maxAlso {
			continue
		}
		if cost > room {
			if misses++; misses > 60 {
				break
			}
			continue
		}
		room -= cost
		c.used += cost
		c.open(p, x.k)
	}
}

// maxAlso bounds how many values are named without any label.
const maxAlso = 24

// part is a line with single values: of one record, behind what identifies it, or
// of one label when the record stands somewhere already or nothing identifies it.
type part struct {
	row    *row
	label  string
	labels []string
	values map[string][]int32
}

// partOf finds the line that a value would stand on, or makes one that is empty.
func (c *choice) partOf(where mention) *part {
	p := &part{row: where.it.row}
	if p.row != nil && p.row.key == 0 && where.label != p.row.cells[0].label {
		if open := c.byRow[p.row]; open != nil {
			return open
		}
		for _, k := range p.row.cells[0].values {
			if !c.covered[k] {
				return p
			}
		}
	}
	p.row, p.label = nil, where.label
	if open := c.byLabel[p.label]; open != nil {
		return open
	}
	return p
}

// opening is what it costs to name a value behind a label: the label, and what
// identifies the record when it is the first.
func (c *choice) opening(p *part, label string) int {
	n := 0
	if p.values[label] == nil {
		n = 3
	}
	if len(p.labels) == 0 && p.row != nil {
		n += c.s.o.Count(p.row.cells[0].text) + 3
	}
	return n
}

func (c *choice) open(p *part, k int32) {
	label := c.s.values.all[k].where.label
	if len(p.labels) == 0 {
		p.values = map[string][]int32{}
		c.parts = append(c.parts, p)
		if p.row != nil {
			c.byRow[p.row] = p
			for _, k := range p.row.cells[0].values {
				c.covered[k] = true
			}
		} else {
			c.byLabel[p.label] = p
		}
	}
	c.covered[k] = true
	if p.values[label] == nil {
		p.labels = append(p.labels, label)
	}
	p.values[label] = append(p.values[label], k)
}

// text writes the line of a part.
func (c *choice) text(p *part) string {
	var cells []cell
	if p.row != nil {
		cells = append(cells, p.row.cells[0])
	}
	for _, l := range p.labels {
		var texts []string
		for _, k := range p.values[l] {
			if v := c.s.values.all[k].text; p.row == nil || v != cells[0].whole {
				texts = append(texts, c.s.redact(l, v))
			}
		}
		if l == "" && p.row == nil {
			l = "also"
		}
		if len(texts) > 0 {
			cells = append(cells, cell{label: l, text: strings.Join(texts, " ")})
		}
	}
	return line(cells, p.row != nil)
}

// write puts the lines in the order of the conversation, records under their head.
func (c *choice) write() Selection {
	var out Selection
	var heads []*item
	under, rest := map[*item][]string{}, map[*item]string{}
	for _, it := range c.s.items { // the rest of a wide record
		if c.taken[it] && it.head != nil && it.head.kind == rowItem {
			rest[it.head] = ", " + it.text
		}
	}
	for _, it := range c.s.items {
		head, text := it.head, it.text+rest[it]
		switch {
		case !c.taken[it] || head != nil && head.kind == rowItem:
			continue
		case it.kind == userItem || it.kind == assistantItem:
			out.Said = append(out.Said, it.text)
			continue
		case it.kind == headItem || head == nil:
			head = it
		}
		if under[head] == nil {
			heads = append(heads, head)
			under[head] = []string{}
		}
		if head != it {
			under[head] = append(under[head], text)
		}
	}
	for _, head := range heads {
		out.Records = append(append(out.Records, head.text), under[head]...)
	}
	for _, p := range c.parts {
		out.Records = append(out.Records, c.text(p))
	}
	out.Tokens = c.used
	return out
}
