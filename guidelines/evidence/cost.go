package evidence

import (
	"cmp"
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/stats"
)

// Resource is what a call costs.
type Resource string

// The resources: time in seconds, and tokens.
const (
	Time   Resource = "time"
	Tokens Resource = "tokens"
)

// of is what the call cost, where that is known.
func (r Resource) of(c *memoryd.Call) (float64, bool) {
	if r == Time {
		return c.TimeCost, stats.KnownTime(c.TimeCost)
	}
	return float64(c.TokenCost), stats.KnownTokens(c.TokenCost)
}

// Cost compares medians with and without a condition over the calls that know
// their cost; a median over none is 0.
type Cost struct {
	With          int     `json:"with"`
	Without       int     `json:"without"`
	MedianWith    float64 `json:"median_with"`
	MedianWithout float64 `json:"median_without"`
}

// CostPattern is a property of inputs that goes with a higher or lower cost
// among the calls that did not fail: failing is often quick, and no way to save.
type CostPattern struct {
	ID       string   `json:"id"`
	Resource Resource `json:"resource"`
	Facts    []Fact   `json:"facts"`
	Contrast []Fact   `json:"contrast,omitempty"`
	Cost
	// P is the rank-sum test, Q its false discovery rate among all hypotheses.
	P float64 `json:"p"`
	Q float64 `json:"q"`
	// Provisional and Backtest are as those of a Condition.
	Provisional bool              `json:"provisional,omitempty"`
	Backtest    *Backtest         `json:"backtest,omitempty"`
	Calls       []memoryd.CallKey `json:"calls"`
}

// Outliers are the calls that cost far more than usual.
type Outliers struct {
	ID       string   `json:"id"`
	Resource Resource `json:"resource"`
	// Known counts the calls that know their cost, Count the outliers among
	// them; Least and Greatest are the outliers' range.
	Known    int               `json:"known"`
	Count    int               `json:"count"`
	Median   float64           `json:"median"`
	Least    float64           `json:"least"`
	Greatest float64           `json:"greatest"`
	Calls    []memoryd.CallKey `json:"calls"`
}

// minCostRatio is the least ratio of medians worth attention, minOutlierRatio
// that of an outlier and the median, maxCostPatterns
// how many are published for one resource, and maxCostTried of how many, the
// strongest by rank sum, the medians are computed.
const (
	minCostRatio    = 1.25
	minOutlierRatio = 2
	maxCostPatterns = 3
	maxCostTried    = 64
)

func outliers(calls []memoryd.Call) []Outliers {
	var found []Outliers
	for _, r := range []Resource{Time, Tokens} {
		var values []float64
		for i := range calls {
			if v, ok := r.of(&calls[i]); ok {
				values = append(values, v)
			}
		}
		if len(values) < 4*minSupport {
			continue
		}
		o := Outliers{ID: itemID("outliers", string(r)), Resource: r, Known: len(values), Median: stats.Median(values)}
		mad := stats.MAD(values)
		for i := range calls {
			v, ok := r.of(&calls[i])
			if !ok || !stats.Outlier(v, o.Median, mad) || v < minOutlierRatio*o.Median {
				continue
			}
			if o.Count == 0 {
				o.Least = v
			}
			o.Least, o.Greatest = min(o.Least, v), max(o.Greatest, v)
			o.Count++
			o.Calls = append(o.Calls, calls[i].Key)
		}
		if o.Count > 0 {
			found = append(found, o)
		}
	}
	return found
}

// costQuestion is one resource over the calls that know it and did not fail.
type costQuestion struct {
	resource Resource
	universe set
	ranks    []float64 // by place in the history
	ordered  stats.Ranks
	groups   []costGroup
}

type costGroup struct {
	group
	rankSum float64
}

func (m *miner) costQuestions(part set) []costQuestion {
	var qs []costQuestion
	for _, r := range []Resource{Time, Tokens} {
		q := costQuestion{resource: r, universe: newSet(len(m.calls)), ranks: make([]float64, len(m.calls))}
		var values []float64
		for i := range m.calls {
			if v, ok := r.of(&m.calls[i]); ok && part.has(i) && !failed(&m.calls[i]) {
				q.universe.add(i)
				values = append(values, v)
			}
		}
		if len(values) < 4*minSupport {
			continue
		}
		q.ordered = stats.RanksOf(values)
		next := 0
		q.universe.each(func(i int) { q.ranks[i] = q.ordered.Rank[next]; next++ })
		qs = append(qs, q)
	}
	return qs
}

func (q *costQuestion) test(features []feature) {
	for _, g := range split(features, q.universe) {
		c := costGroup{group: g}
		c.rankSum = q.rankSum(g.set)
		c.p = q.ordered.P(g.set.count(), c.rankSum)
		q.groups = append(q.groups, c)
	}
}

func (q *costQuestion) rankSum(s set) (sum float64) {
	s.each(func(i int) { sum += q.ranks[i] })
	return sum
}

// dearer reports whether the calls of s cost more, by mean rank, than the others.
func (q *costQuestion) dearer(s set) bool {
	s = s.and(q.universe)
	n := float64(s.count())
	return q.rankSum(s) > n*(float64(q.universe.count())+1)/2
}

// apart is the greater median over the smaller; 0 when a side has no calls.
func (c Cost) apart() float64 {
	if c.With == 0 || c.Without == 0 {
		return 0
	}
	return max(c.MedianWith, c.MedianWithout) / min(c.MedianWith, c.MedianWithout)
}

// chooseCosts picks the strongest patterns that do not overlap much and that
// still hold among the calls that the ones before leave over.
func (m *miner) chooseCosts(q *costQuestion, b *backtest) []CostPattern {
	var groups []costGroup
	for _, g := range q.groups {
		if g.q <= falseDiscovery {
			g.group = g.told()
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(a, b costGroup) int {
		if c := cmp.Compare(a.p, b.p); c != 0 {
			return c
		}
		return strings.Compare(firstKey(a.group), firstKey(b.group))
	})
	var picked []CostPattern
	var taken []set
	left := q.universe // without what the patterns before cover
	for _, cg := range groups[:min(len(groups), maxCostTried)] {
		g, cost := cg.group, m.cost(q.resource, cg.set, q.universe.without(cg.set))
		if cost.MedianWith < cost.MedianWithout && len(g.contrast) > 0 || len(g.facts) == 0 {
			g = g.turned(q.universe)
			cost = Cost{cost.Without, cost.With, cost.MedianWithout, cost.MedianWith}
		}
		rest := m.cost(q.resource, g.set.and(left), left.without(g.set))
		if cost.apart() < minCostRatio || m.spread(g.set) < m.needed() || overlaps(taken, g.set, q.universe) ||
			rest.apart() < minCostRatio || (rest.MedianWith > rest.MedianWithout) != (cost.MedianWith > cost.MedianWithout) {
			continue
		}
		held, test := b.cost(q.resource, g.set, cost.MedianWith > cost.MedianWithout)
		if held == rejected {
			b.dropped++
			continue
		}
		taken = append(taken, g.set)
		left = left.without(smaller(g.set, q.universe))
		picked = append(picked, CostPattern{
			ID: itemID("cost", append([]string{string(q.resource)}, factKeys(g.facts)...)...), Resource: q.resource,
			Facts: g.facts, Contrast: g.contrast, Cost: cost, P: g.p, Q: g.q,
			Provisional: held == provisional, Backtest: test, Calls: keysOf(m.calls, g.set),
		})
		if len(picked) == maxCostPatterns {
			break
		}
	}
	return picked
}

func firstKey(g group) string {
	return append(factKeys(g.facts), factKeys(g.contrast)...)[0]
}

// overlaps reports whether s, seen from its smaller side, shares more than half
// of its calls, or of theirs, with one in taken.
func overlaps(taken []set, s, universe set) bool {
	s = smaller(s, universe)
	for _, t := range taken {
		t = smaller(t, universe)
		if 2*t.countAnd(s) > min(t.count(), s.count()) {
			return true
		}
	}
	return false
}

// smaller is s or the rest of universe, whichever has fewer calls.
func smaller(s, universe set) set {
	if other := universe.without(s); other.count() < s.count() {
		return other
	}
	return s
}

// cost compares the medians of two disjoint sets of calls.
func (m *miner) cost(r Resource, with, without set) Cost {
	median := func(s set) (int, float64) {
		var values []float64
		s.each(func(i int) {
			if v, ok := r.of(&m.calls[i]); ok {
				values = append(values, v)
			}
		})
		if len(values) == 0 {
			return 0, 0
		}
		return len(values), stats.Median(values)
	}
	var c Cost
	c.With, c.MedianWith = median(with)
	c.Without, c.MedianWithout = median(without)
	return c
}
