package search

import (
	"cmp"
	"slices"
)

// rrfK damps the weight of the first places. Cormack, Clarke, Büttcher: Reciprocal
// Rank Fusion outperforms Condorcet and individual Rank Learning Methods (SIGIR
// 2009) found 60 to work well whatever the lists are.
const rrfK = 60

// fuse joins orders of names, each the best first and without repeats, by the sum
// of 1/(rrfK + place). Of equals, the one that an earlier list has first, or has
// at all, comes first.
func fuse(lists ...[]string) []string {
	score := map[string]float64{}
	var names []string
	for _, list := range lists {
		for i, name := range list {
			if _, known := score[name]; !known {
				names = append(names, name)
			}
			score[name] += 1 / float64(rrfK+i+1)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(score[b], score[a]) })
	return names
}
