package facts

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is after how many characters a label is repeated, so that no value
// stands far from the word that says what it is.
const lineWidth = 52

// floor is the estimated need below which a value is not worth any space.
const floor = 0.001

// maxLabel bounds a label in bytes.
const maxLabel = 32

// Block writes the facts that are most worth their space, at most limit
// characters, one line per label and every lineWidth characters. Values for
// which known reports true are left out; nil leaves none out. Values of one label
// stand in the order in which they first appeared; labels in that of their best
// value, so that the place in a block tells a later collection about the rank.
func (s *Set) Block(limit int, known func(value string) bool) string {
	b := block{set: s, room: limit, picked: map[string][]int{}, used: map[string]int{}, taken: map[int]bool{}}
	order := s.byWorth(known)
	b.newestErrors(limit/8, known)
	if limit >= roomyBlock { // what a user named comes first, up to a share
		b.fill(order, limit/6, UserMark, s.named)
	}
	b.fill(order, b.room, "", func(int) bool { return true })
	return s.write(b.picked)
}

// byWorth orders the facts by need per space.
func (s *Set) byWorth(known func(string) bool) []int {
	worth := make([]float64, len(s.facts))
	var order []int
	for i := range s.facts {
		f := &s.facts[i]
		if f.score < floor || f.shape == errText || known != nil && known(f.Value) {
			continue
		}
		worth[i] = f.score / math.Pow(float64(len(f.Value)+8), 0.85)
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order
}

// block is a block in the making.
type block struct {
	set    *Set
	room   int
	picked map[string][]int // facts by label
	used   map[string]int   // characters behind each label
	taken  map[int]bool
}

// fill takes facts that fit, in order, until limit is used.
func (b *block) fill(order []int, limit int, mark string, want func(int) bool) {
	misses := 0
	for _, k := range order {
		if b.taken[k] || !want(k) {
			continue
		}
		f := &b.set.facts[k]
		label := mark + labelOf(f)
		cost := costOf(label, f.Value, b.used[label])
		if cost > limit || cost > b.room {
			if misses++; misses > 40 {
				return
			}
			continue
		}
		limit -= cost
		b.room -= cost
		b.taken[k] = true
		b.used[label] += width(f.Value) + 2
		b.picked[label] = append(b.picked[label], k)
	}
}

// UserMark begins the label of what a user named, in blocks that have the room, so
// that a later collection still knows.
const UserMark = "user "

// roomyBlock is the size in characters from which a block tells what a user named.
const roomyBlock = 900

// named reports whether a user named the fact and it is more than a word.
func (s *Set) named(k int) bool {
	f := &s.facts[k]
	return f.count[FromUser] > 0 && f.shape != plain
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
		b.picked[f.Label] = append(b.picked[f.Label], i)
	}
}

// costOf is what a value adds to the block when used characters already stand
// behind its label.
func costOf(label, value string, used int) int {
	cost := width(value) + 2
	before, after := (used+lineWidth-1)/lineWidth, (used+cost+lineWidth-1)/lineWidth
	if used == 0 || after > before {
		cost += width(label) + 1
	}
	return cost
}

func (s *Set) write(picked map[string][]int) string {
	labels := make([]string, 0, len(picked))
	for l, facts := range picked {
		slices.Sort(facts)
		labels = append(labels, l)
	}
	best := func(l string) float64 {
		top := 0.0
		for _, k := range picked[l] {
			top = max(top, s.facts[k].score)
		}
		return top
	}
	slices.SortFunc(labels, func(a, b string) int {
		return cmp.Or(cmp.Compare(best(b), best(a)), picked[a][0]-picked[b][0])
	})
	var b strings.Builder
	for _, l := range labels {
		col := 0
		for i, k := range picked[l] {
			v := shown(s.facts[k].Value)
			switch {
			case i == 0 || col+width(v) > lineWidth:
				if b.Len() > 0 {
					b.WriteByte('\n')
				}
				b.WriteString(l)
				b.WriteString(": ")
				col = 0
			default:
				b.WriteString(", ")
				col += 2
			}
			b.WriteString(v)
			col += width(v)
		}
	}
	return b.String()
}

// shown quotes a value that holds the separator.
func shown(v string) string {
	if strings.Contains(v, ", ") {
		return `"` + v + `"`
	}
	return v
}

// labelOf gives the label as it is written: one line, no colon.
func labelOf(f *Fact) string {
	l := strings.Trim(f.Label, ":#*[]-_ ")
	if l == "" {
		return "other"
	}
	return cutAt(l, maxLabel)
}

func width(s string) int { return utf8.RuneCountInString(s) }
