package rules

import (
	"memoryd"
	"memoryd/internal/reading"
)

// Profile counts a tool's earlier successes, those that gave nothing, and the failures that each
// source reported and did not report. Observe must not run concurrently with anything else on the
// same profile. Many goroutines may judge with one profile.
type Profile struct {
	successes, empty int
	bySource         map[string]told
}

// told counts the failures that a source told by its flag, and others that are no guess.
type told struct{ reported, unreported int }

// Observe adds a call to the profile.
func (p *Profile) Observe(c *memoryd.Call) {
	if e := &c.Evaluation; e.State == memoryd.Judged && e.Score == memoryd.ScoreFailure && (!c.Success || e.Rule != byScore) {
		p.failed(c)
	}
	if c.Evaluation.Score < memoryd.ScoreSuccess {
		return
	}
	p.successes++
	if isBlank(reading.Bare(c.Output)) {
		p.empty++
	}
}

// silent reports whether most of the tool's successes are known to give nothing.
func (p *Profile) silent() bool {
	return p != nil && p.successes >= minHistory && 2*p.empty >= p.successes
}

func (p *Profile) failed(c *memoryd.Call) {
	if p.bySource == nil {
		p.bySource = map[string]told{}
	}
	t := p.bySource[c.Source()]
	if c.Success {
		t.unreported++
	} else {
		t.reported++
	}
	p.bySource[c.Source()] = t
}

// reports reports whether the source of a call tells this tool's failures by its flag: several, and
// nearly all that are known.
func (p *Profile) reports(c *memoryd.Call) bool {
	if p == nil || len(p.bySource) == 0 {
		return false
	}
	t := p.bySource[c.Source()]
	return t.reported >= minHistory && 10*t.unreported <= t.reported
}

// minHistory is how many calls say what is usual for a tool.
const minHistory = 3
