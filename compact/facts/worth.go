package facts

import (
	"cmp"
	"math"
	"slices"
)

// other is the label of values that stand behind no word.
const other = "other"

// spaceWeight is the exponent of a value's space in its worth: below 1, because
// what is long is also what cannot be guessed.
const spaceWeight = 0.95

// byWorth orders facts by need for their space. A label costs space too, which
// the values behind it share: a value whose label nobody else needs is dear.
func (s *Set) byWorth(ks []int) []int {
	behind := map[string][]float64{}
	for _, k := range ks {
		f := &s.facts[k]
		behind[f.Label] = append(behind[f.Label], f.score)
	}
	for _, scores := range behind {
		slices.SortFunc(scores, func(a, b float64) int { return cmp.Compare(b, a) })
	}
	worth := make(map[int]float64, len(ks))
	for _, k := range ks {
		f := &s.facts[k]
		w := shownWidth(f.Value) + 1
		head := width(f.Label) + 3
		share := float64(head) / float64(min(sharers(behind[f.Label], f.score), max(1, (lineReach-head)/w+1)))
		worth[k] = f.score / math.Pow(float64(w)+share, spaceWeight)
	}
	order := slices.Clone(ks)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(worth[b], worth[a]) })
	return order
}

// sharers counts the scores, sorted, that are at least a third of score.
func sharers(scores []float64, score float64) int {
	n, _ := slices.BinarySearchFunc(scores, score/3, func(a, b float64) int { return cmp.Compare(b, a) })
	return max(1, n)
}

// chooseLabels gives each fact the label of those that it stood behind that helps
// most: names of parameters before names of members before words, and among words
// the one that most facts share.
func (s *Set) chooseLabels() {
	mass := map[string]float64{}
	for i := range s.facts {
		for _, l := range s.facts[i].labels {
			mass[labelText(l.label)] += float64(min(l.n, 5))
		}
	}
	for i := range s.facts {
		f := &s.facts[i]
		best, rank := other, -1.0
		for _, l := range f.labels {
			text := labelText(l.label)
			r := math.Log1p(mass[text]) + math.Log1p(float64(min(l.n, 9)))
			if l.keyed {
				r += 4
			}
			if s.argNames[l.label] {
				r += 4
			}
			if r > rank {
				best, rank = text, r
			}
		}
		f.Label = best
	}
}
