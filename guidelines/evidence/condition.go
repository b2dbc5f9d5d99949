package evidence

import (
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/stats"
)

// Outcome is what a condition is held against.
type Outcome string

// The outcomes.
const (
	// Failed is a score of 0, among judged calls.
	Failed Outcome = "failed"
	// Partial is a score of 0.5, among judged calls that did not fail.
	Partial Outcome = "partial"
	// Unsuccessful is the caller's own flag, among all calls; it is looked at
	// only where it differs from Failed.
	Unsuccessful Outcome = "unsuccessful"
)

// Condition is a property of inputs that goes with an outcome.
type Condition struct {
	ID      string  `json:"id"`
	Outcome Outcome `json:"outcome"`
	// Facts hold together in all of the calls or in none; Contrast are facts
	// that hold exactly in the other calls. There is at least one of Facts.
	Facts    []Fact `json:"facts"`
	Contrast []Fact `json:"contrast,omitempty"`
	// Table counts the calls that the outcome is defined for.
	stats.Table
	RiskRatio     float64         `json:"risk_ratio"`
	RiskRatioCI95 *stats.Interval `json:"risk_ratio_ci95"`
	// P is Fisher's exact test, Q its false discovery rate among all hypotheses
	// of the tool.
	P float64 `json:"p"`
	Q float64 `json:"q"`
	// Trajectories counts distinct trajectories among the calls behind it, where
	// a call of unknown trajectory counts as one of its own.
	Trajectories int `json:"trajectories"`
	// RunP is Fisher's exact test over runs instead of calls: those with a bad call
	// that has the property against those with one that has not; 1 where fewer than
	// three runs are on a side, -1 where runs are unknown.
	RunP float64 `json:"run_p"`
	// Provisional says that there is too little history to hold the condition
	// against a part that it was not learned from; otherwise Backtest says how it
	// did there.
	Provisional bool      `json:"provisional,omitempty"`
	Backtest    *Backtest `json:"backtest,omitempty"`
	// Sole says that one party of several is behind it: see Cause.Sole.
	Sole   bool `json:"sole,omitempty"`
	Time   Cost `json:"time"`
	Tokens Cost `json:"tokens"`
	// Calls are those that meet the condition and have the outcome, or, for a
	// condition that lowers the risk, have not.
	Calls []memoryd.CallKey `json:"calls"`
}

// Raises reports whether the outcome is more frequent with the condition.
func (c *Condition) Raises() bool { return c.RiskRatio > 1 }

// question is one outcome over the calls for which it is defined.
type question struct {
	outcome  Outcome
	universe set
	bad      set
	groups   []group
}

// name tells questions apart.
func (q *question) name() string { return string(q.outcome) }

// group is the facts that split the universe in the same way.
type group struct {
	set             set // within the universe
	facts, contrast []Fact
	table           stats.Table
	p, q            float64
}

// patterns tests every feature against every outcome, and keeps what stands out after
// correction for all tests together and what no part of the history speaks against.
func (m *miner) patterns() (conditions []Condition, patterns []CostPattern, tests, dropped int) {
	b := &backtest{miner: m, facts: m.inputs.features(), fisher: stats.NewFisher(len(m.calls))}
	all := b.try(m.inputs.all())
	for i := range all.questions {
		conditions = append(conditions, m.choose(&all.questions[i], b)...)
	}
	return conditions, m.costs(b.facts), all.tests, b.dropped
}

// correct sets the false discovery rate of every test among all of them, and
// counts them.
func correct(questions []question) int {
	var groups []*group
	for i := range questions {
		for j := range questions[i].groups {
			groups = append(groups, &questions[i].groups[j])
		}
	}
	ps := make([]float64, len(groups))
	for i, g := range groups {
		ps[i] = g.p
	}
	for i, q := range stats.BenjaminiHochberg(ps) {
		groups[i].q = q
	}
	return len(groups)
}

// questions lists the outcomes that occur often enough in part, and often enough
// not.
func (m *miner) questions(part set) []question {
	judged, zero, half, flagged := newSet(len(m.calls)), newSet(len(m.calls)), newSet(len(m.calls)), newSet(len(m.calls))
	for i := range m.calls {
		c := &m.calls[i].Call
		if !c.Success {
			flagged.add(i)
		}
		if c.Evaluation.State != memoryd.Judged {
			continue
		}
		judged.add(i)
		switch {
		case failed(c):
			zero.add(i)
		case !good(c):
			half.add(i)
		}
	}
	all := []question{
		{outcome: Failed, universe: judged, bad: zero},
		{outcome: Partial, universe: judged.without(zero), bad: half},
	}
	if !slices.Equal(flagged, zero) {
		all = append(all, question{outcome: Unsuccessful, universe: m.inputs.all(), bad: flagged})
	}
	for i := range all {
		all[i].universe, all[i].bad = all[i].universe.and(part), all[i].bad.and(part)
	}
	return slices.DeleteFunc(all, func(q question) bool {
		bad := q.bad.count()
		return bad < minSupport || q.universe.count()-bad < minSupport
	})
}

// test tests each split of the universe.
func (q *question) test(fisher stats.Fisher) {
	size, bad := q.universe.count(), q.bad.count()
	known := map[[2]int]float64{} // p by the calls with the property, and the bad ones
	for i := range q.groups {
		g := &q.groups[i]
		with, withBad := g.set.count(), g.set.countAnd(q.bad)
		g.table = stats.Table{With: with, WithBad: withBad, Without: size - with, WithoutBad: bad - withBad}
		p, ok := known[[2]int{with, withBad}]
		if !ok {
			p = fisher.P(g.table)
			known[[2]int{with, withBad}] = p
		}
		g.p = p
	}
}

// split groups features that hold for the same calls of universe, or for exactly
// the others. Features too rare or too common there are left out.
func split(features []feature, universe set) []group {
	size, first := universe.count(), universe.first()
	place := map[string]int{}
	var groups []group
	key := make([]byte, 0, 8*len(universe))
	s := make(set, len(universe))
	single := make([]Fact, 0, len(features)) // room for the first facts of all groups
	for i := range features {
		f := &features[i]
		with := f.set.countAnd(universe)
		if with < minSupport || size-with < minSupport {
			continue
		}
		opposite := first >= 0 && f.set.has(first)
		for k, w := range universe {
			if s[k] = f.set[k] & w; opposite {
				s[k] = w &^ f.set[k]
			}
		}
		key = s.appendKey(key[:0])
		at, ok := place[string(key)]
		if !ok {
			at = len(groups)
			place[string(key)] = at
			groups = append(groups, group{set: slices.Clone(s)})
		}
		facts := &groups[at].facts
		if opposite {
			facts = &groups[at].contrast
		}
		if *facts == nil {
			single = append(single, f.fact)
			*facts = single[len(single)-1 : len(single) : len(single)]
		} else {
			*facts = append(*facts, f.fact)
		}
	}
	return groups
}

// withTellingFacts is the group with only its telling facts.
func (g group) withTellingFacts() group {
	g.facts, g.contrast = telling(g.facts), telling(g.contrast)
	return g
}

// turned is the group seen from the other side.
func (g group) turned(universe set) group {
	g.set = universe.without(g.set)
	g.facts, g.contrast = g.contrast, g.facts
	t := g.table
	g.table = stats.Table{With: t.Without, WithBad: t.WithoutBad, Without: t.With, WithoutBad: t.WithBad}
	return g
}

// telling keeps one fact for each path, the one that says most, and drops facts
// on members of a parameter whose presence is a fact itself.
func telling(facts []Fact) []Fact {
	facts = slices.Clone(facts)
	slices.SortFunc(facts, func(a, b Fact) int { return compareFacts(&a, &b) })
	var kept []Fact
	for _, f := range facts {
		if !slices.ContainsFunc(kept, func(k Fact) bool { return covers(k, f) }) {
			kept = append(kept, f)
		}
	}
	return kept
}

// covers reports whether f says nothing beyond k.
func covers(k, f Fact) bool {
	if k.Path == f.Path {
		return true
	}
	if k.Kind != Missing && k.Kind != Present {
		return false
	}
	return within(f.Path, k.Path)
}

// within reports whether path addresses a part of the parameter at outer.
func within(path, outer string) bool {
	rest, below := strings.CutPrefix(path, outer)
	return below && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "[]"))
}
