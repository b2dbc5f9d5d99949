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

// CostPattern is a property of inputs that goes with a higher cost among the calls
// that did not fail: failing is often quick, and no way to save.
type CostPattern struct {
	ID       string   `json:"id"`
	Resource Resource `json:"resource"`
	Facts    []Fact   `json:"facts"`
	Cost
	// P is the rank-sum test, Q its false discovery rate among all hypotheses on the
	// resource.
	P     float64           `json:"p"`
	Q     float64           `json:"q"`
	Sole  bool              `json:"sole,omitempty"` // one party of several is behind it
	Calls []memoryd.CallKey `json:"calls"`
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
// that of an outlier and the median, maxCostPatterns how many are published for one
// resource.
const (
	minCostRatio    = 1.25
	minOutlierRatio = 2
	maxCostPatterns = 3
)

func outliers(calls []Observation) []Outliers {
	var found []Outliers
	for _, r := range []Resource{Time, Tokens} {
		var values []float64
		for i := range calls {
			if v, ok := r.of(&calls[i].Call); ok {
				values = append(values, v)
			}
		}
		if len(values) < 4*minSupport {
			continue
		}
		o := Outliers{ID: itemID("outliers", string(r)), Resource: r, Known: len(values), Median: stats.Median(values)}
		mad := stats.MAD(values)
		for i := range calls {
			v, ok := r.of(&calls[i].Call)
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

// costs tests every split of the calls that know a cost and did not fail, and picks
// the strongest that do not overlap much, from the dearer side.
func (m *miner) costs(features []feature) []CostPattern {
	var picked []CostPattern
	for _, r := range []Resource{Time, Tokens} {
		universe, ranks := newSet(len(m.calls)), make([]float64, len(m.calls))
		var values []float64
		for i := range m.calls {
			if v, ok := r.of(&m.calls[i].Call); ok && !m.calls[i].Bad() {
				universe.add(i)
				values = append(values, v)
			}
		}
		if len(values) < 4*minSupport {
			continue
		}
		ordered, next := stats.RanksOf(values), 0
		universe.each(func(i int) { ranks[i] = ordered.Rank[next]; next++ })
		groups := split(features, universe)
		ps := make([]float64, len(groups))
		for i, g := range groups {
			sum := 0.0
			g.set.each(func(i int) { sum += ranks[i] })
			groups[i].p = ordered.P(g.set.count(), sum)
			ps[i] = groups[i].p
		}
		for i, q := range stats.BenjaminiHochberg(ps) {
			groups[i].q = q
		}
		slices.SortFunc(groups, func(a, b group) int {
			return cmp.Or(cmp.Compare(a.p, b.p), strings.Compare(firstKey(a), firstKey(b)))
		})
		picked = append(picked, m.dearest(r, groups, universe)...)
	}
	return picked
}

func (m *miner) dearest(r Resource, groups []group, universe set) []CostPattern {
	var picked []CostPattern
	var taken []set
	left := universe // without what the patterns before cover
	for _, g := range groups {
		if g.q > falseDiscovery || len(picked) == maxCostPatterns {
			break
		}
		g = g.withTellingFacts()
		cost := m.cost(r, g.set, universe.without(g.set))
		if cost.MedianWith < cost.MedianWithout {
			g = g.turned(universe)
			cost = Cost{cost.Without, cost.With, cost.MedianWithout, cost.MedianWith}
		}
		rest := m.cost(r, g.set.and(left), left.without(g.set))
		if len(g.facts) == 0 || rest.apart() < minCostRatio || rest.MedianWith < rest.MedianWithout || cost.apart() < minCostRatio || m.spread(g.set) < m.needed() || overlaps(taken, g.set, universe) {
			continue
		}
		taken, left = append(taken, g.set), left.without(smaller(g.set, universe))
		picked = append(picked, CostPattern{
			ID: itemID("cost", append([]string{string(r)}, factKeys(g.facts)...)...), Resource: r, Facts: g.facts, Cost: cost, P: g.p, Q: g.q, Calls: keysOf(m.calls, g.set),
		})
	}
	return picked
}

// apart is the greater median over the smaller; 0 when a side has no calls.
func (c Cost) apart() float64 {
	if c.With == 0 || c.Without == 0 {
		return 0
	}
	return max(c.MedianWith, c.MedianWithout) / min(c.MedianWith, c.MedianWithout)
}

func firstKey(g group) string { return append(factKeys(g.facts), factKeys(g.contrast)...)[0] }

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
			if v, ok := r.of(&m.calls[i].Call); ok {
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

// Order is a tool whose success earlier in the run went with fewer failures. Only
// the protecting direction is kept, and only of tools that a value comes from:
// otherwise it is mostly the harder tasks that call more tools.
type Order struct {
	Tool string `json:"tool"`
	// Table counts runs: those with a call after the tool, those without, and of each
	// those in which such a call failed.
	stats.Table
	P float64 `json:"p"`
	// Sole says that the runs with a call after the tool are of one party of several.
	Sole bool `json:"sole,omitempty"`
}

// orderLevel is the level of the test over runs, minOrderRuns how many are needed on
// each side.
const (
	orderLevel   = 0.01
	minOrderRuns = 3
)

// orders lists the tools that protect, the clearest first.
func (w *window) orders() []Order {
	var names []string
	for _, p := range w.provenance {
		for _, t := range p.Tools {
			if !slices.Contains(names, t.Tool) {
				names = append(names, t.Tool)
			}
		}
	}
	var found []Order
	for _, name := range names {
		type side struct{ calls, bad bool }
		runs := map[uint64]*[2]side{}
		by := backers{}
		for i := range w.obs {
			ob := &w.obs[i]
			if ob.Run == 0 || !ob.Named || !w.good(i) && !w.bad(i) {
				continue
			}
			if runs[ob.Run] == nil {
				runs[ob.Run] = &[2]side{}
			}
			s := &runs[ob.Run][0]
			if slices.Contains(ob.Before, name) {
				s = &runs[ob.Run][1]
				by.add(w.who.of[i])
			}
			s.calls, s.bad = true, s.bad || w.bad(i)
		}
		o := Order{Tool: name, Sole: w.who.sole(by)}
		add := func(n *int, is bool) {
			if is {
				*n++
			}
		}
		for _, r := range runs {
			add(&o.Without, r[0].calls)
			add(&o.WithoutBad, r[0].bad)
			add(&o.With, r[1].calls)
			add(&o.WithBad, r[1].bad)
		}
		if o.With < minOrderRuns || o.Without < minOrderRuns || o.WithoutBad*o.With <= o.WithBad*o.Without {
			continue
		}
		if o.P = stats.NewFisher(o.With + o.Without).P(o.Table); o.P < orderLevel {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, func(a, b Order) int { return cmp.Or(cmp.Compare(a.P, b.P), strings.Compare(a.Tool, b.Tool)) })
	return found
}
