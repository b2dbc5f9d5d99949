package guidelines

import "memoryd/guidelines/evidence"

// The values of statements are shares of the calls: how much of what goes wrong
// heeding a statement could spare. What a tool takes and how it does on the whole
// comes before that, since nothing can be understood without it. Advice says
// shorter what its condition says, and comes just before it; what works repeats
// it from the other side, and comes after.
const (
	coreValue    = 3.0
	overallValue = 2.0
	returnsValue = 0.1
	adviceShare  = 1.1
	worksShare   = 0.5
)

// share is n calls among all.
func (f *findings) share(n int) float64 {
	return float64(n) / float64(max(1, f.evidence.Calls))
}

// worth is the share of calls whose bad outcome goes with the condition beyond
// what happens without it; half for a score of 0.5.
func (f *findings) worth(c *evidence.Condition) float64 {
	n, bad, others, othersBad := c.With, c.WithBad, c.Without, c.WithoutBad
	if !c.Raises() {
		n, bad, others, othersBad = others, othersBad, n, bad
	}
	excess := float64(bad)
	if others > 0 {
		excess -= float64(n) * float64(othersBad) / float64(others)
	}
	v := excess / float64(max(1, f.evidence.Calls))
	if c.Outcome == evidence.Partial {
		v /= 2
	}
	if c.Provisional {
		v /= 2
	}
	return max(0, v)
}

// worthOfCost is the share of dearer calls times how much of their cost could be
// spared, a quarter of it: a dear call is not a failed one.
func (f *findings) worthOfCost(c *evidence.CostPattern) float64 {
	return f.share(c.With) * (1 - c.MedianWithout/c.MedianWith) / 4
}
