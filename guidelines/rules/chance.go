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
// chance alone brings about: one for each parameter, or pair of them, and for each value
// that it was tried with. Where messages name the parameters there is no choice of those.
func (s *search) tests(c *candidate, kind string) float64 {
	n, alike := float64(s.columns), 0.0
	for i := range s.all {
		if o := &s.all[i]; o.what == c.what && o.p == c.p && o.q == c.q {
			alike++
		}
	}
	switch {
	case c.p == "":
		n = 2
	case Named(kind, c.p) && (c.q == "" || Named(kind, c.q)):
		n = 1
	case c.paired():
		n = max(1, n*(n-1)/2)
	}
	return n * alike
}
