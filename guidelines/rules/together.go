package rules

import (
	"slices"
	"strings"
	"time"
)

// operator says what two values make together.
type operator string

// minus is how far the second is above the first. Older programs stored others, which nothing meets.
const minus operator = "-"

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
	return b - a, isNumber && both && h.op == minus
}

// maxSizes bounds how many are compared with one another: those of most calls.
const maxSizes = 8

// sizes are the parameters, or the sizes of lists and texts, that can stand in sums.
func sizes(cols []column) (list []*column) {
	for i := range cols {
		c := &cols[i]
		_, property := base(c.name)
		dates := c.textual && len(c.texts) > 0 &&
			!slices.ContainsFunc(c.by(forms).of(1, 0), func(f string) bool { return !strings.HasPrefix(f, "0000-00-00") })
		if c.good < minGood || !dates && !c.numeric || property != "" && property != ofItems && property != ofLength {
			continue
		}
		if list = append(list, c); len(list) == maxSizes {
			break
		}
	}
	return list
}

// together are the hypotheses on what two values make together.
func (s *search) together(cols []column) (out []hypothesis) {
	list := sizes(cols)
	for i, c := range list {
		for j, q := range list {
			if i == j || !related(c, q) {
				continue
			}
			s.ways, s.finer = s.ways+1, s.finer+1
			out = append(out, s.distance(c, q)...)
		}
	}
	return out
}

// related reports whether two are of a kind: texts of different parameters are of no common length.
func related(c, q *column) bool {
	lists := strings.HasSuffix(c.name, ofItems) && strings.HasSuffix(q.name, ofItems)
	return c.textual == q.textual && (lists || !c.property() || !q.property())
}

// distance is the hypothesis that the second is so far above the first at least: not below it, else
// so far as in good calls.
func (s *search) distance(c, q *column) []hypothesis {
	h := hypothesis{what: below, p: c.name, q: q.name, op: minus}
	var good, bad []float64
	for i := range s.rows {
		switch n, known := h.amount(&s.rows[i]); {
		case !known:
		case s.rows[i].Bad:
			bad = append(bad, n)
		default:
			good = append(good, n)
		}
	}
	if len(good) < minGood || len(bad) < leastBad {
		return nil
	}
	h.bound = slices.Min(good)
	slices.Sort(bad)
	lower, _ := slices.BinarySearch(bad, h.bound) // so many bad ones
	if lower < leastBad {
		return nil
	}
	if c.textual {
		h.set = []string{ofDays}
	}
	least, nearest := h.bound, bad[lower-1]
	switch {
	case nearest < 0 && least >= 0:
		h.bound = 0
	case nearest < 1 && least >= 1:
		h.bound = 1
	}
	if sizes := c.property() || q.property(); sizes && h.bound != 0 && h.bound != 1 || !sizes && least > 0 && h.bound <= 1 {
		return nil // of how far a number is from a size nothing depends; the order of two says the rest: see notAfter
	}
	return []hypothesis{h}
}
