package rules

import (
	"math"
	"slices"

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

// tests is how many conditions might have stood in the place of one, which bounds what
// chance alone brings about: one for each parameter, or pair of them. Where messages
// name the parameters there is no choice, and where calls were mended in their runs only
// one among what was changed.
func (s *search) tests(c *candidate, kind string) float64 {
	n := min(float64(s.columns), s.changed(c, kind))
	switch {
	case c.p == "":
		return 2
	case named(kind, c.p) && (c.q == "" || named(kind, c.q)):
		return 1
	case c.paired():
		return max(1, n*(n-1)/2)
	}
	return n
}

// changed is how many parameters were changed on average where calls of a kind were
// mended in their runs; infinite where the parameter of the condition was not among them.
func (s *search) changed(c *candidate, kind string) float64 {
	sum, n := 0.0, 0.0
	for i := range s.rows {
		row := &s.rows[i]
		if !s.open[i] || row.kind != kind || !c.meets[i] || row.mended == nil {
			continue
		}
		if !slices.Contains(row.mended, c.p) && (c.q == "" || !slices.Contains(row.mended, c.q)) {
			return math.Inf(1)
		}
		sum, n = sum+float64(len(row.mended)), n+1
	}
	if n == 0 {
		return math.Inf(1)
	}
	return sum / n
}
