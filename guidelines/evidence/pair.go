package evidence

import (
	"cmp"
	"slices"

	"memoryd/internal/stats"
)

// pairCandidates is how many properties, those that go most clearly with the
// outcome and each at singleLevel, are combined in pairs; pairLevel is how clearly
// each of the two must go with the outcome given the other.
const (
	pairCandidates = 10
	singleLevel    = 0.1
	pairLevel      = 0.01
)

// addPairs tests the pairs of the properties that raise the risk most. Because
// they were picked by the outcome, the p value of each is multiplied by the
// number of pairs that could have been picked over the number that was: what is
// left is no less strict than testing them all.
func (q *question) addPairs(fisher stats.Fisher) {
	var raising []group
	for _, g := range q.groups {
		if g.p > singleLevel {
			continue
		}
		ratio, _ := g.table.RiskRatio()
		if ratio < 1 {
			g = g.turned(q.universe)
		}
		if g = g.told(); len(g.facts) > 0 {
			raising = append(raising, g)
		}
	}
	slices.SortFunc(raising, compareGroups)
	raising = raising[:min(len(raising), pairCandidates)]
	var pairs []group
	for i, a := range raising {
		for _, b := range raising[i+1:] {
			if p, ok := q.pair(a, b, fisher); ok {
				pairs = append(pairs, p)
			}
		}
	}
	possible := float64(len(q.groups)) * float64(len(q.groups)-1) / 2
	tried := float64(len(raising)) * float64(len(raising)-1) / 2
	for i := range pairs {
		pairs[i].p = min(1, pairs[i].p*possible/tried)
	}
	q.groups = append(q.groups, pairs...)
}

// pair is the calls that have both a and b, if both matter.
func (q *question) pair(a, b group, fisher stats.Fisher) (group, bool) {
	fa, fb, ok := apart(a.facts, b.facts)
	if !ok {
		return group{}, false
	}
	both := a.set.and(b.set)
	with, size, bad := both.count(), q.universe.count(), q.bad.count()
	if with < minSupport || with == a.set.count() || with == b.set.count() {
		return group{}, false
	}
	withBad := both.countAnd(q.bad)
	for _, one := range []group{a, b} {
		alone, aloneBad := one.set.count()-with, one.set.countAnd(q.bad)-withBad
		t := stats.Table{With: with, WithBad: withBad, Without: alone, WithoutBad: aloneBad}
		// The pair must be worth telling instead of either fact by itself.
		whole := float64(one.table.WithBad) / float64(one.table.With)
		if withBad*alone <= aloneBad*with || float64(withBad)/float64(with) < minRatio*whole || fisher.P(t) > pairLevel {
			return group{}, false
		}
	}
	t := stats.Table{With: with, WithBad: withBad, Without: size - with, WithoutBad: bad - withBad}
	facts := []Fact{fa, fb}
	slices.SortFunc(facts, func(x, y Fact) int { return cmp.Compare(x.key(), y.key()) })
	return group{set: both, facts: facts, table: t, p: fisher.P(t), pair: true}, true
}

// apart finds a fact of each side on different parameters.
func apart(as, bs []Fact) (a, b Fact, ok bool) {
	for _, a := range as {
		for _, b := range bs {
			if a.Path != b.Path && !within(a.Path, b.Path) && !within(b.Path, a.Path) {
				return a, b, true
			}
		}
	}
	return Fact{}, Fact{}, false
}
