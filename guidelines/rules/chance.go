package rules

import (
	"math"
	"slices"
	"strconv"
	"strings"

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

// byChance is how many conditions chance alone would make hold so well for one kind of failure. One that
// holds for all calls of the kind is borne out by those of other kinds under it, too. What counts of a
// condition on how a text is written are different texts: one that is sent again and again shows what becomes
// of it, not of what it looks like.
func (s *search) byChance(c *candidate, kind string, met, all, against float64) float64 {
	odds := func(n counts) float64 {
		by := chance(int(n.met), int(n.bad), int(n.wrong), int(n.good))
		return by * s.tests(c, kind, int(n.bad), by)
	}
	by := 1.0
	if c.what != notAgain { // a kind of failure may be one task that was tried again and again
		by = odds(s.different(c, kind, counts{met, all, c.good, against}))
	}
	if met == all || c.what == notAgain {
		met, all = s.ofAll(c)
		by = min(by, odds(s.different(c, "", counts{met, all, c.good, s.good})))
	}
	if s.recent {
		by *= distinctSpans
	}
	return by
}

// counts are how many of the bad and of all good calls, or of their texts, met a condition.
type counts struct{ met, bad, wrong, good float64 }

// different bounds the counts of a condition on how a text is written by the different texts that calls gave:
// bad ones of a kind, or of any.
func (s *search) different(c *candidate, kind string, n counts) counts {
	if c.what == unknown {
		n.met = min(n.met, s.names(c, kind))
		return n
	}
	if !c.written() {
		return n
	}
	p, _ := base(c.p)
	type given struct {
		text       string
		bad, meets bool
	}
	seen := map[given]bool{}
	var of counts
	for i := range s.rows {
		row := &s.rows[i]
		if !c.compares(row) {
			continue
		}
		g := given{bad: row.Bad, meets: c.meets[i]}
		for v := range row.values(p) {
			if v.kind == other { // too long to compare
				v.text = strconv.Itoa(i)
			}
			g.text += v.text + "\n"
		}
		if seen[g] || row.Bad && kind != "" && row.kind != kind {
			continue
		}
		seen[g] = true
		switch {
		case g.bad && g.meets:
			of.met++
		case g.meets:
			of.wrong++
		}
		if g.bad {
			of.bad++
		} else {
			of.good++
		}
	}
	return counts{min(n.met, of.met), min(n.bad, of.bad), min(n.wrong, of.wrong), min(n.good, of.good)}
}

// written reports whether the condition is about how a text is written: its length, its marks, or how it
// begins or ends; or about whether it is known. Not among them is what the texts of good calls have in common at their
// beginning or as a form, and how an identifier begins, which says of what kind it is.
func (h *hypothesis) written() bool {
	switch h.what {
	case endsNot, marked, nowhere, taken:
		return true
	case begins:
		return opening(h.set[0]) == h.set[0]
	default:
		return strings.HasSuffix(h.p, ofLength)
	}
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
// about so often among n bad calls: all of its sort that were looked at, and each value that the
// parameters were tried with. Where messages name the parameters there is no choice of those. How
// values are written, their sizes and parts of the calls are many ways to look, and all count.
func (s *search) tests(c *candidate, kind string, n int, by float64) float64 {
	sets := 1.0
	if c.of > 0 {
		sets = math.Exp(stats.LogChoose(c.of, len(c.set))) // in how many ways so many can be chosen
	}
	if s.guards > 0 {
		return float64(s.guards*s.ways) * sets
	}
	if s.boundIn(kind, c) {
		return 1
	}
	if c.written() {
		return float64(s.finer) * sets // see different: what is rare is rare enough among different texts
	}
	plain := c.ofType() || c.named(kind) && !c.property() && (c.what == is || c.what == notIn) // a value of elements, where messages name it
	if c.refined() && !plain {
		return float64(rarer*s.finer) * sets
	}
	if c.p == "" {
		sets *= 2
	}
	sort, named := c.what.sort(), c.named(kind)
	if c.what == is || c.what == begins {
		values := 0.0
		for i := range s.columns {
			if o := &s.columns[i]; o.name == c.p || !named && !o.property() {
				values += max(1, o.looks(c.what, n, int(s.good), by))
			}
		}
		return values
	}
	if named {
		return float64(s.looked[at{sort, c.p, c.q}]) * sets
	}
	return float64(s.sorts[at{what: sort}]) * sets
}

// sort is what a condition is chosen among: a number has two ends.
func (w what) sort() what {
	if w == below {
		return above
	}
	return w
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

// contrast counts the calls that a condition is held against: good ones and, where messages name the
// parameter, those that went wrong in another way without meeting it. A tool checks one thing after the
// other, so that these passed the check, or never came to it.
func (s *search) contrast(c *candidate, kind string) float64 {
	calls := s.good
	if !c.named(kind) {
		return calls
	}
	for i := range s.rows {
		if r := &s.rows[i]; r.Bad && r.kind != kind && r.kind != "" && !r.repeat && !c.meets[i] {
			calls++
		}
	}
	return calls
}

// named reports whether a message names the parameters of a condition.
func (h *hypothesis) named(message string) bool {
	return Speaks(message, nameOf(h.p)) && (h.q == "" || Speaks(message, nameOf(h.q)))
}

// boundIn reports whether a kind of failure names a number that lies between what worked and what failed in
// it under a condition.
func (s *search) boundIn(kind string, c *candidate) bool {
	if c.what != above && c.what != below {
		return false
	}
	p, _ := base(c.p)
	return slices.ContainsFunc(boundsIn(kind, p), func(token string) bool {
		h := c.hypothesis
		n, err := strconv.ParseFloat(token, 64)
		if err != nil || n != h.bound && (n > h.bound) != (h.what == above) {
			return false
		}
		h.bound = n
		for i := range s.rows {
			if c.meets[i] && s.rows[i].Bad && s.rows[i].kind == kind && !h.holds(&s.rows[i]) {
				return false
			}
		}
		return true
	})
}

// nameOf is what messages call a parameter: of a member of an object or a list, its own name.
func nameOf(p string) string {
	p, _ = base(p)
	return strings.ReplaceAll(p[strings.LastIndexByte(p, '.')+1:], "[]", "")
}

// others counts the calls of other kinds of failure that meet a condition. What is too rare to be a kind may
// be of the same.
func (s *search) others(c *candidate, kind string) (n int) {
	for i := range s.rows {
		if k := s.rows[i].kind; s.rows[i].Bad && k != "" && k != kind && c.meets[i] {
			n++
		}
	}
	return n
}
