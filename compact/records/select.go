package records

import (
	"fmt"
	"slices"
	"strings"

	"memoryd/internal/textsafe"
)

// Selection contains the selected lines.
type Selection struct {
	// Said are the lines of people and the assistant, in order.
	Said []string
	// Done is the ledger: one line per call.
	Done []string
	// Records are the lines from tools: tables and quotes, in the order of the
	// conversation.
	Records []string
	// Tokens is about what they cost.
	Tokens int
	// Whole reports that nothing is left out of what people wrote and of the ledger, nor what
	// the assistant said last.
	Whole bool
}

// Select chooses the lines that are most worth their space within room tokens. A line is
// worth the weights of those of its values that are nowhere else yet. It counts more if a
// person wrote it or a call changed something. Select may be called again.
func (s *Set) Select(room int) Selection {
	c := &choice{
		s: s, weights: s.weigh(), stands: make([]bool, len(s.values.all)), shapes: map[string]bool{},
		scarce: room < keyRoom, bare: room < headRoom,
	}
	for i := range s.values.all {
		c.stands[i] = s.values.all[i].covered
	}
	for _, it := range s.items {
		it.taken, it.meant = false, false
	}
	c.reserve(int(pickedShare*float64(room)), room, func(it *item) bool { return it.picked })
	c.reserve(int(planShare*float64(room)), room, func(it *item) bool { return it.plan })
	last := c.lastLead()
	c.findMeant()
	least := 0
	if s.brief || room < tinyRoom && last != nil && last.place > s.asked {
		least = lastLeast
	}
	c.reserve(max(least, int(lastShare*float64(room))), room, func(it *item) bool { return it == last })
	c.reserve(int(saidShare*float64(room)), room, func(it *item) bool { return it.kind == userItem })
	c.newest(int(freshShare*float64(room)), room)
	c.reserve(int(meantShare*float64(room)), room, func(it *item) bool { return it.kind == callItem && it.meant })
	c.reserve(int(callShare*float64(room)), room, func(it *item) bool { return it.kind == callItem })
	c.reserve(int(siblingShare*float64(room)), room, c.beside)
	c.reserve(int(carriedShare*float64(room)), room, func(it *item) bool {
		return it.carried && it.is(userItem|callItem|assistantItem)
	})
	c.choose(room)
	c.reserve(room, room, func(it *item) bool { return it.is(userItem | callItem) })
	out := c.write()
	out.Whole = !slices.ContainsFunc(s.items, func(it *item) bool {
		return (it == last || it.is(userItem|callItem)) && !it.stale && (it.cut || !it.taken)
	})
	return out
}

// What the open request refers to takes at most before anything else does: what the
// assistant said last, and the calls that what stays speaks of.
const (
	lastShare    = 0.1
	lastLeast    = 64   // tokens, where the open request is too short to say what it asks
	saidShare    = 0.25 // what people wrote
	meantShare   = 0.45 // the lines of calls that what stays speaks of
	callShare    = 0.15 // the newest lines of the ledger
	siblingShare = 0.5  // of a list in a record, what stands beside a thing that is spoken of
	freshShare   = 0.5  // an output that nobody has answered yet
)

// beside reports a part of a list of which another part names a thing that is spoken of.
func (c *choice) beside(it *item) bool {
	spoken := func(k int32) bool { v := &c.s.values.all[k]; return v.focus && v.ident && v.text != it.row.of.text }
	return it.label != "" && it.subject().meant && !c.s.told(it) &&
		slices.ContainsFunc(it.row.units, func(u *item) bool { return u.label == it.label && slices.ContainsFunc(u.values, spoken) })
}

// pickedShare is the most that lines take which a model picked.
const pickedShare = 0.25

// Pick marks the lines that contain one of the texts; Select prefers them.
func (s *Set) Pick(texts []string) {
	for _, it := range s.items {
		it.picked = it.picked || slices.ContainsFunc(texts, it.holds)
	}
}

// Holds reports whether a line contains a text, word for word.
func (s *Set) Holds(text string) bool {
	return slices.ContainsFunc(s.items, func(it *item) bool { return it.holds(text) })
}

// leastQuote is the shortest text by which a line is recognised, in bytes.
const leastQuote = 8

func (it *item) holds(text string) bool {
	return it.row == nil && it.kind != headItem && len(text) >= leastQuote &&
		strings.Contains(textsafe.Visible(strings.ReplaceAll(it.text, "\n"+quoteMark, " ")), text)
}

// choice is a selection in the making.
type choice struct {
	s       *Set
	weights []float64
	stands  []bool          // values that stand somewhere
	shapes  map[string]bool // of the units taken
	used    int
	scarce  bool // nested keys are left out
	bare    bool // heads as well
}

// Rooms in tokens from which the keys of nested objects are named, and from which
// each record stands below the tool that gave it.
const (
	keyRoom  = 500
	headRoom = 300
	tinyRoom = 100 // below this, what the assistant is at comes first
)

// What lines are worth more, or less, than records with the same values: those of people,
// of calls and of the assistant, and what the tail speaks of. A plan takes up to planShare of the room.
const (
	userWorth      = 2
	assistantWorth = 1.5
	callWorth      = 2.5
	focusWorth     = 3
	planShare      = 0.15
	carriedShare   = 0.8 // what an earlier summary said, newest first, stays up to this
)

// reserve takes lines of a kind, newest first, as far as a share of the room goes.
func (c *choice) reserve(share, room int, of func(*item) bool) {
	var items []*item
	for _, it := range slices.Backward(c.s.items) {
		if of(it) {
			items = append(items, it)
		}
	}
	c.from(items, share, room)
}

// from takes lines as far as a share of the room goes, and tells how far it went.
func (c *choice) from(items []*item, share, room int) (used int) {
	for _, it := range items {
		if n := c.cost(it); !it.taken && !it.stale && used+n <= share && c.used+n <= room {
			used += n
			c.take(it)
		}
	}
	return used
}

func (c *choice) worth(it *item) float64 {
	sum, about := 0.0, it.subject().meant
	for i, k := range it.values {
		v := &c.s.values.all[k]
		asked := it.row != nil && v.focus && v.ident
		if (asked || !c.stands[k]) && !slices.Contains(it.values[:min(i, 24)], k) {
			sum += c.weights[k]
		}
	}
	switch it.kind {
	case userItem:
		sum *= userWorth
	case assistantItem:
		sum *= assistantWorth
	case quoteItem:
		sum = (sum + it.rare) * (1 + 4*it.near)
	case callItem:
		sum *= callWorth
	}
	if about {
		sum *= focusWorth
	}
	return sum
}

// cost is what a line costs with what must stand around it.
func (c *choice) cost(it *item) int {
	n := it.cost
	if c.unkeyed(it, c.shapes) {
		n = it.bareCost
	}
	if it.row != nil && !slices.ContainsFunc(it.row.units, func(u *item) bool { return u.taken }) {
		n += it.row.cost
	}
	if h := c.headOf(it); h != nil && !h.taken {
		n += h.cost
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

// nearly is how much less than the best a line may be worth and count as equal to it; what
// is worth less than worthless of the best is not looked at.
const nearly, worthless = 0.95, 1e-6

// choose takes the best until the room is full, of those about equal the newest first. What a
// line is worth falls while others are taken.
func (c *choice) choose(room int) {
	type candidate struct {
		ratio float64 // what it was worth for each token when last asked
		*item
	}
	left := make([]candidate, 0, len(c.s.items))
	most := 0.0
	for _, it := range slices.Backward(c.s.items) {
		if it.taken || it.stale {
			continue
		}
		if ratio := c.worth(it) / float64(c.cost(it)); ratio > 0 {
			left = append(left, candidate{ratio, it})
			most = max(most, ratio)
		}
	}
	open := len(left)
	for least := most * nearly; open > 0 && least > most*worthless; least *= nearly {
		for i := range left {
			x := &left[i]
			if x.ratio < least {
				continue
			}
			cost := c.cost(x.item)
			if x.ratio = c.worth(x.item) / float64(cost); x.ratio < least {
				continue
			}
			if c.used+cost <= room {
				c.take(x.item)
			}
			x.ratio, open = 0, open-1 // it was asked for good
		}
	}
}

func (c *choice) take(it *item) {
	c.used += c.cost(it)
	c.shapes[it.shape] = true
	for _, x := range []*item{it, c.headOf(it)} {
		if x == nil || x.taken {
			continue
		}
		x.taken = true
		for _, k := range x.values {
			c.stands[k] = true
		}
	}
}

// write puts the lines in the order of the conversation, records under their head.
func (c *choice) write() Selection {
	out := Selection{Tokens: c.used}
	var blocks []*block
	of, shapes, written := map[*item]*block{}, map[string]bool{}, map[*row]bool{}
	for _, it := range c.s.items {
		switch {
		case !it.taken || written[it.row]:
		case it.is(userItem | assistantItem):
			out.Said = append(out.Said, it.text)
		case it.kind == callItem:
			out.Done = append(out.Done, it.text)
		default:
			head := c.headOf(it)
			if it.kind == headItem || head == nil {
				head = it
			}
			b := of[head]
			if b == nil {
				b = &block{head: head}
				of[head], blocks = b, append(blocks, b)
				if head != it || it.row == nil {
					b.lines = append(b.lines, head.text)
				}
			}
			if it.row != nil {
				written[it.row] = true
				b.rows++
				b.lines = append(b.lines, c.rowText(it.row, shapes))
			} else if head != it {
				b.lines = append(b.lines, it.text)
			}
			c.noteBefore(head, it)
		}
	}
	for _, b := range blocks {
		out.Records = append(out.Records, b.text()...)
	}
	return out
}

// block is a head and what stands below it; what has no head stands alone.
type block struct {
	head  *item
	lines []string
	rows  int // records among them
}

// text is the lines, the first with what is to be known of all.
func (b *block) text() []string {
	if b.head.before != "" {
		b.lines[0] += " (before " + b.head.before + ")"
	}
	if b.head.kind == headItem && b.head.rows > 2 && b.rows > 0 && b.rows < b.head.rows {
		b.lines[0] += fmt.Sprintf(" (%d of %d)", b.rows, b.head.rows) // who chooses must know that there is more
	}
	return b.lines
}

// noteBefore notes at the head of a quote which tool changed later what it was asked about.
func (c *choice) noteBefore(head, it *item) {
	if it.kind != quoteItem {
		return
	}
	for _, thing := range head.things {
		if by, ok := c.s.acted[thing]; ok {
			if head.before = ""; by.place > it.place {
				head.before = by.tool
			}
		}
	}
}

// rowText writes what was taken of a record, behind what identifies it.
func (c *choice) rowText(r *row, shapes map[string]bool) string {
	text := c.takenOf(r, shapes)
	name := strings.TrimSpace(r.of.label + " " + r.of.text)
	if by := c.s.acted[r.of.whole]; r.keyed && by.place > r.units[0].place {
		name += " (before " + by.tool + ")"
	}
	switch {
	case r.of.text == "" || !r.keyed && strings.HasPrefix(r.head.text, headMark):
	case text == "":
		text = name
	default:
		text = name + ": " + text
	}
	if slices.ContainsFunc(ourMarks, func(mark string) bool { return strings.HasPrefix(text, mark) }) {
		return quoteMark + text // no text of a tool looks like ours
	}
	return text
}

// takenOf joins the units of a record that were taken, those of one list side by side.
func (c *choice) takenOf(r *row, shapes map[string]bool) string {
	var cells []cell
	bare, left := false, map[string]int{} // objects of a list that were not taken, by its name
	for _, u := range r.units {
		if u.text == "" {
			continue
		}
		if !u.taken {
			if !u.stale {
				left[u.label]++
			}
			continue
		}
		text := u.text
		if c.unkeyed(u, shapes) {
			text, bare = u.bare, bare || u.label == ""
		}
		shapes[u.shape] = true
		if n := len(cells) - 1; n >= 0 && u.label != "" && cells[n].label == u.label {
			cells[n].text += "; " + text
		} else {
			cells = append(cells, cell{label: u.label, text: text})
		}
	}
	for i := range cells {
		x := &cells[i]
		if x.label == "" {
			continue
		}
		if n := left[x.label]; n > 0 {
			x.text += fmt.Sprintf("; %d more", n)
		}
		if strings.Contains(x.text, " ") {
			x.text = "[" + x.text + "]"
		}
	}
	text := joined(cells)
	if bare && len(cells) > 1 {
		text = strings.Replace(text, ", ", " | ", 1)
	}
	return text
}
