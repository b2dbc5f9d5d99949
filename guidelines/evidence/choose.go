package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd/internal/stats"
)

// The least effect worth a reader's attention, as a ratio of risks, and the
// level at which a further condition must still hold among the calls that the
// conditions before it leave over.
const (
	minRatio      = 1.5
	residualLevel = 0.05
)

// choose picks the conditions of one outcome: first those that raise the risk,
// strongest first, each of which must still hold among the calls that meet none
// of the ones before; then those that lower it, among the calls that are left.
func (m *miner) choose(q *question, b *backtest) []Condition {
	var raising, lowering []group
	for _, g := range q.groups {
		if g.q > falseDiscovery {
			continue
		}
		g = g.withTellingFacts()
		if ratio, _ := g.table.RiskRatio(); ratio < 1 {
			g = g.turned(q.universe)
		}
		if ratio, _ := g.table.RiskRatio(); ratio < minRatio {
			continue
		}
		if len(g.facts) > 0 {
			raising = append(raising, g)
		} else {
			lowering = append(lowering, g.turned(q.universe))
		}
	}
	left := q.universe
	picked, left := m.cover(q, raising, left, b, true)
	more, _ := m.cover(q, lowering, left, b, false)
	return append(picked, more...)
}

// cover picks from groups, best first, those that add something among left, and
// returns what is left after them.
func (m *miner) cover(q *question, groups []group, left set, b *backtest, raises bool) ([]Condition, set) {
	slices.SortFunc(groups, compareGroups)
	var picked []Condition
	for _, g := range groups {
		if len(picked) == maxConditions {
			break
		}
		behind := g.set.and(q.bad)
		if !raises {
			behind = g.set.without(q.bad)
		}
		if behind.count() < minSupport || m.spread(behind) < m.needed() || !m.adds(q, g, left, b.fisher, raises) {
			continue
		}
		held, test := b.condition(q, g, raises)
		if held == rejected {
			b.dropped++
			continue
		}
		c := m.condition(q, g, behind)
		c.Provisional, c.Backtest = held == provisional, test
		picked = append(picked, c)
		left = left.without(g.set)
	}
	return picked, left
}

// compareGroups orders groups: by p value, then by how many facts they unite and how
// much the first of them says.
func compareGroups(a, b group) int {
	if c := cmp.Compare(a.p, b.p); c != 0 {
		return c
	}
	if c := cmp.Compare(len(b.facts)+len(b.contrast), len(a.facts)+len(a.contrast)); c != 0 {
		return c
	}
	return compareFacts(&a.facts[0], &b.facts[0])
}

// compareFacts orders facts by how much they say to a reader.
func compareFacts(a, b *Fact) int {
	if c := cmp.Compare(a.Kind.rank(), b.Kind.rank()); c != 0 {
		return c
	}
	return strings.Compare(a.key(), b.key())
}

// adds reports whether g still goes with the outcome among the calls of left.
func (m *miner) adds(q *question, g group, left set, fisher stats.Fisher, raises bool) bool {
	if slices.Equal(left, q.universe) {
		return true
	}
	rest, bad := left.count(), left.countAnd(q.bad)
	inside := g.set.and(left)
	with, withBad := inside.count(), inside.countAnd(q.bad)
	t := stats.Table{With: with, WithBad: withBad, Without: rest - with, WithoutBad: bad - withBad}
	if with < minSupport || rest-with < minSupport {
		return false
	}
	ratio, _ := t.RiskRatio()
	return (ratio > 1) == raises && fisher.P(t) <= residualLevel
}

func (m *miner) condition(q *question, g group, behind set) Condition {
	ratio, ci := g.table.RiskRatio()
	c := Condition{
		ID: itemID("condition", append([]string{string(q.outcome)}, factKeys(g.facts)...)...), Outcome: q.outcome,
		Facts: g.facts, Contrast: g.contrast, Table: g.table, RiskRatio: ratio, RiskRatioCI95: ci,
		P: g.p, Q: g.q, RunP: m.byRuns(q, g), Trajectories: m.spread(behind), Calls: keysOf(m.calls, behind), Sole: m.who.alone(g.set) || m.who.alone(q.universe.without(g.set)),
	}
	other := q.universe.without(g.set)
	c.Time = m.cost(Time, g.set, other)
	c.Tokens = m.cost(Tokens, g.set, other)
	return c
}

// byRuns is the test of a group over runs.
func (m *miner) byRuns(q *question, g group) float64 {
	if m.trajectories == 0 {
		return -1
	}
	type side struct{ with, withBad, without, withoutBad bool }
	runs := map[int]side{}
	q.universe.each(func(i int) {
		s := runs[m.trajectory[i]]
		if bad := q.bad.has(i); g.set.has(i) {
			s.with, s.withBad = true, s.withBad || bad
		} else {
			s.without, s.withoutBad = true, s.withoutBad || bad
		}
		runs[m.trajectory[i]] = s
	})
	var t stats.Table
	add := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, s := range runs {
		add(&t.With, s.with)
		add(&t.WithBad, s.withBad)
		add(&t.Without, s.without)
		add(&t.WithoutBad, s.withoutBad)
	}
	if t.With < minRuns || t.Without < minRuns {
		return 1
	}
	return stats.NewFisher(t.With + t.Without).P(t)
}

// minRuns is how many runs must be on each side of a condition.
const minRuns = 3

// spread counts the distinct trajectories in s; each call of an unknown one
// counts.
func (m *miner) spread(s set) int {
	seen := map[int]bool{}
	unknown := 0
	s.each(func(i int) {
		if t := m.trajectory[i]; t == 0 {
			unknown++
		} else {
			seen[t] = true
		}
	})
	return len(seen) + unknown
}

// needed is how many distinct trajectories a condition must rest on: there may
// be no more than one.
func (m *miner) needed() int {
	if m.trajectories < 2 {
		return 1
	}
	return minTrajectory
}

func factKeys(facts []Fact) []string {
	keys := make([]string, len(facts))
	for i, f := range facts {
		keys[i] = f.key()
	}
	return keys
}
