package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// guard says which calls a condition is about: those that gave a value for a parameter, or
// any value where it is "", or those that did not. Without a parameter it is about all.
type guard struct {
	where, value string
	not          bool
}

func (g *guard) holds(r *row) bool {
	if g.where == "" {
		return true
	}
	v := r.get(g.where)
	return (v.kind != absent && (g.value == "" || v.text == g.value)) != g.not
}

// line puts the guard before what to do.
func (g *guard) line(line string) string {
	_, member := inList(g.where) // of the list that the line tells
	where := spoken(member)
	switch {
	case g.where == "" || line == "":
		return line
	case g.not:
		return "Where " + where + " is not given, " + strings.ToLower(line[:1]) + line[1:]
	case g.value == "":
		return "Where " + where + " is given, " + strings.ToLower(line[:1]) + line[1:]
	}
	value := strconv.Quote(g.value)
	if g.value == "true" || g.value == "false" {
		value = g.value
	}
	return "Where " + where + " is " + value + ", " + strings.ToLower(line[:1]) + line[1:]
}

// maxGuards bounds how many parts of the calls are looked at.
const maxGuards = 8

// guardsOf lists the parts of the calls in which enough went wrong that nothing explains,
// and enough well, most failures first.
func (s *search) guardsOf() (out []guard) {
	open := map[guard]int{}
	for i := range s.columns {
		c := &s.columns[i]
		if c.property() {
			continue
		}
		var of []guard
		if good := c.texts.of(minGood, minCalls); len(c.texts) <= maxSet {
			for _, v := range good {
				if shown(v) {
					of = append(of, guard{where: c.name, value: v})
				}
			}
		}
		if c.good >= minGood && float64(c.good) < s.good {
			of = append(of, guard{where: c.name}, guard{where: c.name, not: true})
		}
		for _, g := range of {
			for k := range s.rows {
				if s.open[k] && s.rows[k].kind != "" && s.rows[k].some(listOf(g.where), g.holds) {
					open[g]++
				}
			}
			if open[g] >= minCalls {
				out = append(out, g)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b guard) int { return cmp.Compare(open[b], open[a]) })
	return out[:min(len(out), maxGuards)]
}

// guarded looks for rules within parts of the calls, on what nothing else explains.
func (s *search) guarded() (found []Rule) {
	if s.where != "" || s.hints || s.recent {
		return nil
	}
	guards := s.guardsOf()
	for _, g := range guards {
		sub := s.under(g, len(guards))
		found = append(found, sub.run()...)
		k := 0
		for i := range s.rows {
			if s.rows[i].some(listOf(g.where), g.holds) {
				s.open[i] = sub.open[k]
				k++
			}
		}
	}
	return found
}

// under is the search within a part of the calls.
func (s *search) under(g guard, of int) *search {
	sub := &search{
		several: s.several, parties: s.parties, own: s.own, kinds: map[string]bool{}, guard: g, guards: of, whole: s.rows,
	}
	for i := range s.rows {
		if s.rows[i].some(listOf(g.where), g.holds) {
			sub.rows, sub.open = append(sub.rows, s.rows[i]), append(sub.open, s.open[i])
		}
	}
	return sub
}

// parted reports whether the guard makes the difference: outside of it, enough good calls met the condition.
func (s *search) parted(h hypothesis) bool {
	good := 0
	h.not = !h.not
	for i := 0; i < len(s.whole) && good < leastBad; i++ {
		if !s.whole[i].Bad && h.holds(&s.whole[i]) {
			good++
		}
	}
	return s.where == "" || good >= leastBad
}
