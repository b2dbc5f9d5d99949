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

// tests is how many conditions might have stood in the place of one, which bounds what
// chance alone brings about: one for each parameter, or pair of them. Where messages
// name the parameters there is no choice.
func (s *search) tests(c *candidate, kind string) float64 {
	n := float64(s.columns)
	switch {
	case c.p == "":
		return 2
	case Named(kind, c.p) && (c.q == "" || Named(kind, c.q)):
		return 1
	case c.paired():
		return max(1, n*(n-1)/2)
	}
	return n
}
