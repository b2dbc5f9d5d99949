package rules

import (
	"math"
	"slices"
	"strings"
	"time"
)

// operator says what two values make together.
type operator string

const (
	plus  operator = "+"
	times operator = "*"
	minus operator = "-" // how far the second is above the first
)

// ofDays is the unit, in the set of a hypothesis, of a difference of dates.
const ofDays = "days"

// size is what a value counts in sums: a number, or the days of a date.
func (v value) size() (n float64, known bool) {
	if v.kind == text && len(v.text) >= len(time.DateOnly) {
		t, err := time.Parse(time.DateOnly, v.text[:len(time.DateOnly)])
		return float64(t.Unix() / (24 * 3600)), err == nil
	}
	return v.num, v.kind == number
}

// amount is the number that a call gave, or that two of its values make.
func (h *hypothesis) amount(r *row) (n float64, known bool) {
	v := r.in[h.p]
	if h.op == "" {
		return v.num, v.kind == number
	}
	a, isNumber := v.size()
	b, both := r.in[h.q].size()
	switch h.op {
	case plus:
		b += a
	case times:
		b *= a
	case minus:
		b -= a
	}
	return b, isNumber && both
}

// summand is a parameter, or the size of a list or a text, that can stand in sums, with what each call
// gave; NaN for nothing.
type summand struct {
	*column

	of []float64
}

// maxSizes bounds how many are compared with one another: those of most calls.
const maxSizes = 8

func (s *search) sizes(cols []column) (list []summand) {
	for i := range cols {
		c := &cols[i]
		_, property := base(c.name)
		dates := c.textual && len(c.texts) > 0 &&
			!slices.ContainsFunc(c.by(forms).of(1, 0), func(f string) bool { return !strings.HasPrefix(f, "0000-00-00") })
		if c.good < minGood || !dates && !c.numeric || property != "" && property != ofItems && property != ofLength {
			continue
		}
		z := summand{c, make([]float64, len(s.rows))}
		for k := range s.rows {
			n, is := s.rows[k].in[c.name].size()
			if z.of[k] = n; !is {
				z.of[k] = math.NaN()
			}
		}
		if list = append(list, z); len(list) == maxSizes {
			break
		}
	}
	return list
}

// together are the hypotheses on what two values make together.
func (s *search) together(cols []column) (out []hypothesis) {
	list := s.sizes(cols)
	for i := range list {
		for j := range list {
			c, q := &list[i], &list[j]
			if i == j || !related(c, q) {
				continue
			}
			s.ways, s.finer = s.ways+1, s.finer+1
			if i < j && c.property() && q.property() { // of lists
				out = append(out, hypothesis{what: differ, p: c.name, q: q.name})
			}
			out = append(out, s.distance(c, q)...)
			if i < j && !c.textual && !c.property() && !q.property() && slices.Min(c.nums) >= 0 && slices.Min(q.nums) >= 0 {
				out = append(out, s.total(c, q, plus)...)
				out = append(out, s.total(c, q, times)...)
			}
		}
	}
	return out
}

// related reports whether two are of a kind: texts of different parameters are of no common length.
func related(c, q *summand) bool {
	lists := strings.HasSuffix(c.name, ofItems) && strings.HasSuffix(q.name, ofItems)
	return c.textual == q.textual && (lists || !c.property() || !q.property())
}

// below gives the least that two values make in good calls, how many bad ones lie below it, and the
// greatest of these.
func (s *search) below(c, q *summand, of func(a, b float64) float64) (least float64, bad int, nearest float64) {
	least, nearest = math.Inf(1), math.Inf(-1)
	good := 0
	for i := range s.rows {
		if n := of(c.of[i], q.of[i]); !s.rows[i].Bad && !math.IsNaN(n) {
			good, least = good+1, min(least, n)
		}
	}
	if good < minGood {
		return least, 0, nearest
	}
	for i := range s.rows {
		if n := of(c.of[i], q.of[i]); s.rows[i].Bad && n < least {
			bad, nearest = bad+1, max(nearest, n)
		}
	}
	return least, bad, nearest
}

// total is the hypothesis that two numbers make together no more than good ones did.
func (s *search) total(c, q *summand, op operator) []hypothesis {
	of := func(a, b float64) float64 { return -a - b }
	if op == times {
		of = func(a, b float64) float64 { return -a * b }
	}
	least, bad, _ := s.below(c, q, of)
	if bad < leastBad {
		return nil
	}
	return []hypothesis{{what: above, p: c.name, q: q.name, op: op, bound: -least}}
}

// distance is the hypothesis that the second is so far above the first at least: not below it, else
// so far as in good calls.
func (s *search) distance(c, q *summand) []hypothesis {
	least, bad, nearest := s.below(c, q, func(a, b float64) float64 { return b - a })
	if bad < leastBad {
		return nil
	}
	h := hypothesis{what: below, p: c.name, q: q.name, op: minus, bound: least}
	if c.textual {
		h.set = []string{ofDays}
	}
	switch {
	case nearest < 0 && least >= 0:
		h.bound = 0
	case nearest < 1 && least >= 1:
		h.bound = 1
	}
	if !c.property() && !q.property() && least > 0 && h.bound <= 1 {
		return nil // the order says it: see notAfter
	}
	return []hypothesis{h}
}
