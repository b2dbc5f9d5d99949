package rules

import (
	"math"

	"memoryd/internal/stats"
)

// chance is how probable it is that of n bad and all good calls those that meet a
// condition are so unevenly parted by chance: the tail of the hypergeometric.
func chance(bad, n, good, all int) float64 {
	met, sum := bad+good, 0.0
	for k := bad; k <= min(met, n); k++ {
		if met-k <= all {
			sum += math.Exp(stats.LogChoose(n, k) + stats.LogChoose(all, met-k) - stats.LogChoose(n+all, met))
		}
	}
	return min(1, sum)
}

// byChance is how many conditions chance alone would make hold so well for one kind of failure. One
// that holds for all calls of the kind is borne out by those of other kinds under it, too.
func (s *search) byChance(c *candidate, kind string, met, all, against float64) float64 {
	odds := func(met, all float64) float64 {
		by := chance(int(met), int(all), int(c.good), int(against))
		return by * s.tests(c, kind, int(all), by)
	}
	by := odds(met, all)
	if met == all {
		by = min(by, odds(s.ofAll(c)))
	}
	if s.recent {
		by *= distinctSpans
	}
	return by
}

// ofAll counts the calls that went wrong in any way, and those of them that met a condition, with at
// most sourceShare of a source.
func (s *search) ofAll(c *candidate) (met, all float64) {
	bySource := map[uint64][2]float64{}
	for i := range s.rows {
		if row := &s.rows[i]; row.Bad && !row.repeat {
			n := bySource[row.Source]
			if n[1]++; c.meets[i] {
				n[0]++
			}
			bySource[row.Source] = n
		}
	}
	for _, n := range bySource {
		share := min(1, sourceShare/n[1])
		met, all = met+share*n[0], all+share*n[1]
	}
	return met, all
}

// tests is how many conditions might have stood in the place of one that chance alone brings
// about so often among n bad calls: one for each parameter, or pair of them, and for each
// value that it was tried with. Where messages name the parameters there is no choice of
// those. How values are written, their sizes and parts of the calls are many ways to look, and all
// count.
func (s *search) tests(c *candidate, kind string, n int, by float64) float64 {
	sets := 1.0
	if c.of > 0 {
		sets = math.Exp(stats.LogChoose(c.of, len(c.set))) // in how many ways so many can be chosen
	}
	if s.guards > 0 {
		return float64(s.guards*s.ways) * sets
	}
	if c.refined() && !c.malformed() {
		return float64(rarer*s.finer) * sets
	}
	columns := 0.0
	for i := range s.columns {
		if o := &s.columns[i]; !o.property() && (!o.member() || c.what <= with) { // of others no values are compared
			columns++
		}
	}
	columns = max(1, columns)
	named := c.named(kind)
	switch {
	case c.p == "":
		columns = 2
	case named:
		columns = 1
	case c.paired():
		columns = max(1, columns*(columns-1)/2)
	}
	switch {
	case c.malformed():
		return 2 * columns
	case c.what == is || c.what == begins:
		looks := 0.0
		for i := range s.columns {
			if o := &s.columns[i]; o.name == c.p || !named {
				looks += o.looks(c.what, n, int(s.good), by)
			}
		}
		return max(columns, looks)
	case c.of > 0:
		return columns * sets
	default:
		return columns * float64(s.looked[at{c.what, c.p, c.q, c.op}])
	}
}

// looks counts the values of a parameter that so many calls gave that these could be as
// unevenly parted by chance.
func (c *column) looks(w what, n, good int, by float64) (looks float64) {
	for _, v := range c.by(conditions[w].look) {
		calls := v.good + v.bad
		if chance(min(calls, n), n, max(0, calls-n), good) <= by {
			looks++
		}
	}
	return looks
}

// contrast counts the calls that a condition is held against: good ones and, where the messages
// of a kind of failure name the parameter, those that went wrong in another way without meeting
// it. Of those that met it the tool may have said only what it looks at first.
func (s *search) contrast(c *candidate, kind string) (all float64) {
	all = s.good
	if !c.named(kind) {
		return all
	}
	for i := range s.rows {
		if s.rows[i].Bad && s.rows[i].kind != kind && !c.meets[i] {
			all++
		}
	}
	return all
}

// named reports whether a message names the parameters of a condition.
func (h *hypothesis) named(message string) bool {
	return Named(message, h.name()) && (h.q == "" || Named(message, h.q))
}

// name is what messages call the parameter.
func (h *hypothesis) name() string {
	p, _ := base(h.p)
	if list, member := inList(p); list != "" {
		return member
	}
	return p
}

// others counts the calls of other kinds of failure that meet a condition.
func (s *search) others(c *candidate, kind string) (n int) {
	for i := range s.rows {
		if s.rows[i].Bad && s.rows[i].kind != kind && c.meets[i] {
			n++
		}
	}
	return n
}
