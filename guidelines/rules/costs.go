package rules

import (
	"math"
	"slices"
	"strconv"

	"memoryd/internal/stats"
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
	var places []int
	var costs []float64
	for i := range rows {
		if c := cost(&rows[i]); !rows[i].Bad && c > 0 {
			places, costs = append(places, i), append(costs, c)
		}
	}
	usual := stats.Median(costs)
	open := make([]bool, len(costs))
	for i, c := range costs {
		open[i] = c >= dearTimes*usual && c-usual >= least
	}
	if len(costs) < 2*minCalls+minGood || !slices.Contains(open, true) {
		return nil
	}
	known := make([]row, len(places))
	for i, at := range places {
		known[i] = rows[at]
		call := *known[i].Call
		known[i].Call, known[i].kind = &call, ""
		call.Bad = open[i]
	}
	s := search{
		rows: known, open: slices.Clone(open), several: several(rows), parties: parties(rows), own: own, kinds: map[string]bool{}, dear: true,
	}
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
		found[i].Effect, found[i].With, found[i].Otherwise = e, stats.Median(with), stats.Median(without)
	}
	return slices.DeleteFunc(found, func(r Rule) bool { return r.With < dearTimes*r.Otherwise })
}

// short is a number in about three digits.
func short(f float64) string {
	digits := max(0, 2-int(math.Log10(max(f, 1))))
	return strconv.FormatFloat(math.Round(f*math.Pow10(digits))/math.Pow10(digits), 'f', -1, 64)
}
