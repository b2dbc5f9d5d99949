package facts

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// other is the label of values that stand behind no word.
const other = "other"

// spaceWeight is the exponent of a value's space in its worth: below 1, because
// what is long is also what cannot be guessed.
const spaceWeight = 0.95

// byWorth orders facts by need for their space. A label costs space too, which
// the values behind it share: a value whose label nobody else needs is dear.
func (s *Set) byWorth(ks []int32) []ranked {
	scores := s.scoresByLabel(ks)
	order := make([]ranked, len(ks))
	for i, k := range ks {
		f := &s.facts[k]
		w := shownWidth(f.Value)
		head := width(f.Label) + 3
		share := float64(head) / float64(min(sharers(scores[f.label], f.score), max(1, (lineReach-head)/(w+1)+1)))
		order[i] = ranked{f.score / math.Pow(float64(w+1)+share, spaceWeight), k, int32(w)}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		if c := cmp.Compare(b.worth, a.worth); c != 0 {
			return c
		}
		return cmp.Compare(a.fact, b.fact)
	})
	return order
}

// ranked is a fact with what it is worth for its space and how wide it is shown.
type ranked struct {
	worth float64
	fact  int32
	width int32
}

// scoresByLabel gives the scores of the facts behind each label, the lowest first.
func (s *Set) scoresByLabel(ks []int32) [][]float64 {
	by := make([][]float64, len(s.written))
	room := make([]float64, len(ks))
	for i := range s.written {
		s.written[i].mass = 0
	}
	for _, k := range ks {
		s.written[s.facts[k].label].mass++
	}
	for i := range by {
		n := s.written[i].mass
		by[i], room = room[:0:n], room[n:]
	}
	for _, k := range ks {
		f := &s.facts[k]
		by[f.label] = append(by[f.label], f.score)
	}
	for _, scores := range by {
		slices.Sort(scores)
	}
	return by
}

// sharers counts the scores, sorted, that are above a third of score.
func sharers(scores []float64, score float64) int {
	third := score / 3
	n := len(scores) - sort.Search(len(scores), func(i int) bool { return scores[i] > third })
	return max(1, n)
}

// chooseLabels gives each fact the label of those that it stood behind that helps
// most: names of parameters before names of members before words, and among words
// the one that most facts share.
func (s *Set) chooseLabels() {
	none := s.write()
	for _, b := range s.behind[1:] {
		s.written[s.names.list[b.label].written].mass += int(min(b.n, 5))
	}
	for i := range s.facts {
		f := &s.facts[i]
		best, rank := none, -1.0
		for at := f.labels; at != 0; at = s.behind[at].next {
			b := &s.behind[at]
			l := &s.names.list[b.label]
			r := log1p(s.written[l.written].mass) + log1p(int(min(b.n, 9)))
			if b.keyed {
				r += 4
			}
			if l.param {
				r += 4
			}
			if r > rank {
				best, rank = l.written, r
			}
		}
		f.label, f.Label = best, s.written[best].text
	}
}
