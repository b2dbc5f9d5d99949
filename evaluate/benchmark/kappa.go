package benchmark

import "memoryd/internal/stats"

// kappa is Cohen's for a square table of counts, with the interval that the
// package comment describes. It has no value where nothing was counted or where
// both raters used a single level, the same one: then agreement by chance is
// certain.
func kappa(counts [][]int) Estimate {
	rows, cols := make([]int, len(counts)), make([]int, len(counts))
	n, same := 0, 0
	for i, row := range counts {
		for j, c := range row {
			rows[i] += c
			cols[j] += c
			n += c
		}
		same += row[i]
	}
	if n == 0 {
		return Estimate{}
	}
	total := float64(n)
	var chance float64
	for i := range counts {
		chance += float64(rows[i]) / total * (float64(cols[i]) / total)
	}
	if chance >= 1 {
		return Estimate{N: n}
	}
	beyond := func(agreement float64) float64 { return (agreement - chance) / (1 - chance) }
	ci := stats.Wilson(same, n)
	return estimate(beyond(float64(same)/total), n, &stats.Interval{beyond(ci[0]), beyond(ci[1])})
}
