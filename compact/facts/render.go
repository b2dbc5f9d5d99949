package facts

import "strings"

// UserMark begins the label of what a user named, in blocks that have the room, so
// that a later collection still knows.
const UserMark = "user "

// roomyBlock is the size in characters from which a block tells what a user named.
const roomyBlock = 700

// Block writes the facts that are most worth their space, at most limit
// characters: lines of a label, a colon and values with a space between them; a
// value that holds a space stands in quotes. Values for which known reports true
// are left out; nil leaves none out. Values of one label stand in the order in
// which they first appeared; labels in that of their best value, so that the place
// in a block tells a later collection about the rank.
func (s *Set) Block(limit int, known func(value string) bool) string {
	return s.Ledger(known).Block(limit)
}

// Ledger is a Set in the order in which its facts are worth their space, for
// blocks of several sizes.
type Ledger struct {
	set   *Set
	order []int
	known func(string) bool
}

// Ledger puts the facts in order, without those for which known reports true.
func (s *Set) Ledger(known func(value string) bool) *Ledger {
	return &Ledger{s, s.byWorth(s.useful(known)), known}
}

// Block is Set.Block for the facts of the ledger.
func (l *Ledger) Block(limit int) string {
	for room := limit; room > 0; {
		text := l.block(room)
		over := width(text) - limit
		if over <= 0 {
			return text
		}
		room -= over // lines broke elsewhere than was reckoned
	}
	return ""
}

func (l *Ledger) block(limit int) string {
	s, order := l.set, l.order
	b := block{set: s, room: limit, taken: map[int]bool{}, shown: map[string]bool{}, groups: map[string]*group{}}
	b.newestErrors(limit/8, l.known)
	if limit >= roomyBlock { // what a user named comes first, up to a share
		b.fill(order, limit/6, UserMark, s.named)
	}
	b.fill(order, b.room, "", func(int) bool { return true })
	return b.write()
}

// useful lists the facts that may be written.
func (s *Set) useful(known func(string) bool) []int {
	var ks []int
	for i := range s.facts {
		f := &s.facts[i]
		if f.shape != errText && !s.hidden[f.Value] && (known == nil || !known(f.Value)) {
			ks = append(ks, i)
		}
	}
	return ks
}

// named reports whether a user named the fact and it is more than a word.
func (s *Set) named(k int) bool {
	f := &s.facts[k]
	return f.count[FromUser] > 0 && f.shape != plain
}

// block is a block in the making.
type block struct {
	set    *Set
	room   int
	groups map[string]*group
	taken  map[int]bool
	shown  map[string]bool // what stands in the block already: labels, and parts of values
}

// fill takes facts that fit, in order, until limit is used.
func (b *block) fill(order []int, limit int, mark string, want func(int) bool) {
	misses := 0
	for _, k := range order {
		f := &b.set.facts[k]
		if b.taken[k] || b.shown[f.Value] || !want(k) {
			continue
		}
		label := mark + f.Label
		g := b.groups[label]
		if g == nil {
			g = &group{label: label}
		}
		cost, col := g.cost(shownWidth(f.Value))
		if cost > limit || cost > b.room {
			if misses++; misses > 60 {
				return
			}
			continue
		}
		limit -= cost
		b.room -= cost
		b.taken[k] = true
		b.groups[label] = g
		b.show(f)
		g.facts, g.col, g.best = append(g.facts, k), col, max(g.best, f.score)
	}
}

// show notes what a reader finds once f stands in the block: its label, and the
// parts of a value that has a structure of its own.
func (b *block) show(f *Fact) {
	v := f.Value
	b.shown[f.Label] = true
	switch f.shape {
	case stamp:
		b.shown[v[:10]] = true
	case location, joined, ident:
		for i := range len(v) {
			if c := v[i]; i > 0 && (c == '/' || c == '@' || c == ':' || c == '?') {
				b.shown[v[:i]], b.shown[v[i+1:]] = true, true
				if c == '/' {
					b.shown[v[:i+1]], b.shown[v[i:]] = true, true
				}
			}
		}
	case phrase:
		for w := range strings.FieldsSeq(v) {
			b.shown[w] = true
		}
	}
}

// newestErrors takes error lines, newest first, within limit characters. They are
// long and seldom passed on, but a reader needs to know what failed.
func (b *block) newestErrors(limit int, known func(string) bool) {
	for i := len(b.set.facts) - 1; i >= 0; i-- {
		f := &b.set.facts[i]
		if f.shape != errText || known != nil && known(f.Value) {
			continue
		}
		cost := width(f.Value) + len(f.Label) + 3
		if cost > limit {
			return
		}
		limit -= cost
		b.room -= cost
		g := b.groups[f.Label]
		if g == nil {
			g = &group{label: f.Label}
			b.groups[f.Label] = g
		}
		g.facts, g.col = append(g.facts, i), lineReach+1
	}
}
