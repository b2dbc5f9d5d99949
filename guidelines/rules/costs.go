package rules

import (
	"slices"
	"strconv"
)

// What makes a good call dear: so many times the median, and by a second or so many
// tokens at least.
const (
	dearTimes   = 2.5
	dearSeconds = 1
	dearTokens  = 100
)

// dear lists the rules on good calls that took long, or many tokens, where a condition
// tells them from the others.
func dear(own string, rows []row, e Effect) []Rule {
	cost := func(r *row) float64 {
		if e == Slow {
			return r.Seconds
		}
		return float64(r.Tokens)
	}
	least := dearSeconds + 0.0
	if e == Costly {
		least = dearTokens
	}
	var known []row
	var costs []float64
	for i := range rows {
		if c := cost(&rows[i]); !rows[i].Bad && c > 0 {
			known, costs = append(known, rows[i]), append(costs, c)
		}
	}
	if len(known) < 2*minCalls+minGood {
		return nil
	}
	usual := median(costs)
	open := make([]bool, len(known))
	for i := range known {
		call := *known[i].Call
		known[i].Call, known[i].kind = &call, ""
		open[i] = costs[i] >= dearTimes*usual && costs[i]-usual >= least
		call.Bad = open[i]
	}
	s := search{rows: known, open: slices.Clone(open), several: several(rows), parties: parties(rows), own: own, kinds: map[string]bool{}}
	found := s.run()
	for i := range found {
		var with, without []float64
		for k := range known {
			if found[i].when.holds(&known[k]) {
				with = append(with, costs[k])
			} else {
				without = append(without, costs[k])
			}
		}
		found[i].Effect, found[i].With, found[i].Otherwise = e, median(with), median(without)
	}
	return slices.DeleteFunc(found, func(r Rule) bool { return r.With < dearTimes*r.Otherwise })
}

func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}

// short is a number in three digits at most.
func short(f float64) string {
	digits := 0
	switch {
	case f < 10:
		digits = 2
	case f < 100:
		digits = 1
	}
	s := strconv.FormatFloat(f, 'f', digits, 64)
	for digits > 0 && (s[len(s)-1] == '0' || s[len(s)-1] == '.') {
		if s[len(s)-1] == '.' {
			return s[:len(s)-1]
		}
		s = s[:len(s)-1]
	}
	return s
}
