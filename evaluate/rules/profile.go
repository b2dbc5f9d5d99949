package rules

import (
	"memoryd"
	"memoryd/internal/loosejson"
	"memoryd/internal/reading"
)

// shape is the coarse form of an output.
type shape int

const (
	shapeEmpty   shape = iota // nothing
	shapeNothing              // an empty structure or null
	shapeText
	shapeOther
	shapes
)

// Profile summarises a tool's earlier calls: the shapes of what its successes gave. Observe must not run concurrently with anything else
// on the same profile. Many goroutines may judge with one profile.
type Profile struct {
	successes int64
	shapes    [shapes]int64
}

// Observe adds a call to the profile, if it was judged a success.
func (p *Profile) Observe(c *memoryd.Call) {
	if c.Evaluation.State == memoryd.Judged && c.Evaluation.Score >= memoryd.ScoreSuccess {
		p.successes++
		p.shapes[shapeOf(c.Output)]++
	}
}

// share is the part of the successes that have a shape.
func (p *Profile) share(s shape) float64 {
	if p.successes == 0 {
		return 0
	}
	return float64(p.shapes[s]) / float64(p.successes)
}

// shapeOf tells the shape of an output from its first characters.
func shapeOf(out string) shape {
	s := reading.Bare(out)
	switch {
	case s == "":
		return shapeEmpty
	case len(s) <= 16 && blanks[s]:
		return shapeNothing
	case loosejson.Looks(s) || s[0] == '<':
		return shapeOther
	}
	return shapeText
}

// prose reports whether the tool is known to answer in sentences.
func (v *view) prose() bool {
	p := v.prof
	return p != nil && p.successes >= minHistory && p.share(shapeText) > 0.5
}
