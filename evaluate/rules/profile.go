package rules

import (
	"fmt"
	"slices"

	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"
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

// Profile summarises a tool's earlier calls: the costs of its successes and the shapes of its
// outputs. Its size is bounded. Observe must not run concurrently with anything else on the
// same profile. Many goroutines may judge with one profile.
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

// Observe adds a call to the profile. Only judged calls count: 1.0 is a success and 0.0 a
// failure; partial successes are left out.
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
	s := reading.Bare(out)
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

// unlike reports whether the output has a shape that the tool's successes, of
// which there are enough, practically never have: prose from a tool that
// otherwise returns structures.
func (v *view) unlike() bool {
	p := v.prof
	if p == nil || p.successes < minHistory {
		return false
	}
	s := shapeOf(v.call.Output)
	if s != shapeText && s != shapeMarkup {
		return false
	}
	return p.share(s) <= 0.02 && p.share(shapeObject)+p.share(shapeArray)+p.share(shapeNothing) >= 0.9
}

// prose reports whether the tool is known to answer in sentences.
func (v *view) prose() bool {
	p := v.prof
	return p != nil && p.successes >= minHistory && p.share(shapeText) > 0.5
}

// unlikeSuccesses: prose, with or without a word of trouble, from a tool that
// otherwise returns structures.
func unlikeSuccesses(v *view) (finding, bool) {
	if !v.unlike() || !v.out.short(40, 4000) {
		return finding{}, false
	}
	why := fmt.Sprintf("text, while all %d successes known of this tool are structured", v.prof.successes)
	return half("unlike-successes", v.out.first().s, why), true
}

// costOutlier: the call took far longer than the tool's successes. Tokens are
// not compared: hosts report those of the prompt, which grows with the
// conversation, whatever the tool does.
func costOutlier(v *view) (finding, bool) {
	p := v.prof
	if p == nil {
		return finding{}, false
	}
	return v.compare(&p.times, v.call.TimeCost, costSeconds, "%.3g s, while the median of %d successes is %.3g s")
}

func (v *view) compare(r *ring, cost, least float64, format string) (finding, bool) {
	if cost <= 0 || len(r.values) < minHistory {
		return finding{}, false
	}
	median, mad := r.spread()
	if cost <= median+costMADs*mad || cost <= costRatio*median || cost-median <= least {
		return finding{}, false
	}
	f := half("cost-outlier", "", fmt.Sprintf("it works but took "+format, cost, len(r.values), median))
	f.cause = causeCost
	return f, true
}
