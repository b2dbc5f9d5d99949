package facts

import (
	"slices"
	"strings"
)

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
	set    *Set
	order  []ranked
	errors []int32 // those of the error lines that are not known, the newest first
	// taken notes in which block each fact was taken.
	taken []int32
	round int32
	shown map[string]bool // what stands in the block already: labels, and parts of values
}

// Ledger puts the facts in order, without those for which known reports true.
func (s *Set) Ledger(known func(value string) bool) *Ledger {
	useful, errors := s.useful(known)
	return &Ledger{set: s, order: s.byWorth(useful), errors: errors, taken: make([]int32, len(s.facts))}
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
	l.round++
	l.shown = emptied(l.shown)
	b := block{Ledger: l, room: limit, groupOf: make([]int32, 2*len(l.set.written))}
	b.newestErrors(limit / 8)
	if limit >= roomyBlock { // what a user named comes first, up to a share
		b.fill(limit/6, true)
	}
	b.fill(b.room, false)
	return b.write()
}

// useful lists the facts that may be written, and apart from them the error lines.
func (s *Set) useful(known func(string) bool) (ks, errors []int32) {
	ks = make([]int32, 0, len(s.facts))
	for i := range s.facts {
		f := &s.facts[i]
		switch {
		case f.shape == errText:
			if known == nil || !known(f.Value) {
				errors = append(errors, int32(i))
			}
		case (len(s.hidden) == 0 || !s.hidden[f.Value]) && (known == nil || !known(f.Value)):
			s.rate(f)
			ks = append(ks, int32(i))
		}
	}
	slices.Reverse(errors)
	return ks, errors
}

// byUser reports whether a user named the fact and it is more than a word.
func (f *Fact) byUser() bool { return f.count[FromUser] > 0 && f.shape != plain }

// block is a block in the making.
type block struct {
	*Ledger
	room    int
	groups  []*group
	groupOf []int32 // by label, and once more for what users named: 1 + its place in groups
}

// fill takes facts that fit, in order, until limit is used; those that users
// named, or all.
func (b *block) fill(limit int, named bool) {
	misses := 0
	for i := range b.order {
		k, w := b.order[i].fact, int(b.order[i].width)
		f := &b.set.facts[k]
		if b.taken[k] == b.round || named && !f.byUser() || b.shown[f.Value] {
			continue
		}
		g := b.group(f, named)
		cost, col := g.cost(w)
		if cost > limit || cost > b.room {
			if misses++; misses > 60 {
				return
			}
			continue
		}
		limit -= cost
		b.room -= cost
		b.taken[k] = b.round
		b.show(f)
		g.facts, g.col, g.best = append(g.facts, k), col, max(g.best, f.score)
	}
}

// group gives the group of a fact, which may be new and stay empty.
func (b *block) group(f *Fact, named bool) *group {
	at, text := f.label, f.Label
	if named {
		at += int32(len(b.set.written))
	}
	if k := b.groupOf[at]; k > 0 {
		return b.groups[k-1]
	}
	if named {
		text = UserMark + text
	}
	g := &group{label: text, width: width(text)}
	b.groups = append(b.groups, g)
	b.groupOf[at] = int32(len(b.groups))
	return g
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
func (b *block) newestErrors(limit int) {
	for _, k := range b.errors {
		f := &b.set.facts[k]
		cost := width(f.Value) + len(f.Label) + 3
		if cost > limit {
			return
		}
		limit -= cost
		b.room -= cost
		g := b.group(f, false)
		g.facts, g.col = append(g.facts, k), lineReach+1
	}
}
