package rules

import (
	"slices"

	"memoryd"
	"memoryd/internal/loosejson"
)

// window is how many costs of recent successes a profile keeps.
const window = 64

// shape is the coarse form of an output.
type shape int

const (
	shapeEmpty   shape = iota // nothing
	shapeNothing              // an empty structure or null
	shapeObject
	shapeArray
	shapeMarkup
	shapeText
	shapes
)

// Profile summarises a tool's earlier calls: the costs of its successes and the
// shapes of its outputs. Its size is bounded. Observe must not run at the same
// time as anything else on the same profile; judging with one profile from many
// goroutines is safe.
type Profile struct {
	successes int64
	failures  int64
	shapes    [shapes]int64 // of successes
	failed    [shapes]int64 // of failures
	times     ring
}

// ring holds the last values, unordered.
type ring struct {
	values []float64
	next   int
}

func (r *ring) add(x float64) {
	if len(r.values) < window {
		r.values = append(r.values, x)
		return
	}
	r.values[r.next] = x
	r.next = (r.next + 1) % window
}

// Observe adds a call to what is known. Only judged calls count: the score says
// whether it was a success (1.0) or a failure (0.0); halves are left out.
func (p *Profile) Observe(c *memoryd.Call) {
	if c.Evaluation.State != memoryd.Judged {
		return
	}
	s := shapeOf(c.Output)
	switch {
	case c.Evaluation.Score >= memoryd.ScoreSuccess:
		p.successes++
		p.shapes[s]++
		p.observeCost(c)
	case c.Evaluation.Score <= memoryd.ScoreFailure:
		p.failures++
		p.failed[s]++
	case c.Evaluation.Rule == "cost-outlier": // what is usual may change
		p.observeCost(c)
	}
}

func (p *Profile) observeCost(c *memoryd.Call) {
	if c.TimeCost > 0 {
		p.times.add(c.TimeCost)
	}
}

// share is the part of the successes that have a shape.
func (p *Profile) share(s shape) float64 {
	if p.successes == 0 {
		return 0
	}
	return float64(p.shapes[s]) / float64(p.successes)
}

// spread gives the median and the scaled median absolute deviation of the kept
// values (the factor 1.4826 makes it estimate the standard deviation of normal
// data: Rousseeuw and Croux, 1993).
func (r *ring) spread() (median, mad float64) {
	var buf [window]float64
	vals := append(buf[:0], r.values...)
	median = middle(vals)
	for i, x := range vals {
		vals[i] = max(x-median, median-x)
	}
	return median, 1.4826 * middle(vals)
}

// middle sorts the values and gives their median; there must be one.
func middle(vals []float64) float64 {
	slices.Sort(vals)
	n := len(vals)
	if n%2 == 1 {
		return vals[n/2]
	}
	return (vals[n/2-1] + vals[n/2]) / 2
}

// shapeOf tells the shape of an output from its first characters.
func shapeOf(out string) shape {
	s := trimOutput(out)
	switch {
	case s == "":
		return shapeEmpty
	case len(s) <= 16 && blanks[s]:
		return shapeNothing
	case loosejson.Looks(s) && s[0] == '{':
		return shapeObject
	case loosejson.Looks(s):
		return shapeArray
	case s[0] == '<':
		return shapeMarkup
	}
	return shapeText
}
