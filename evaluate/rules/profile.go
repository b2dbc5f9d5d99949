package rules

import (
	"memoryd"
	"memoryd/internal/reading"
)

// Profile counts a tool's earlier successes, and those that gave nothing, and what each source
// reported of failures. Observe must not run concurrently with anything else on the same profile.
// Many goroutines may judge with one profile.
type Profile struct {
	successes, empty int
	failures         map[string]reports // by source
}

// reports counts a source's failed calls: those that it reported as failed, and those that it did
// not, though a fact shows the failure.
type reports struct{ told, hidden int }

// Observe adds a judged call to the profile.
func (p *Profile) Observe(c *memoryd.Call) {
	if c.Evaluation.Score < memoryd.ScoreSuccess {
		p.observeFailure(c)
		return
	}
	p.successes++
	if IsBlank(reading.Bare(c.Output)) {
		p.empty++
	}
}

func (p *Profile) observeFailure(c *memoryd.Call) {
	if c.Evaluation.Score > memoryd.ScoreFailure || c.Success && c.Evaluation.Rule == scoreRule {
		return
	}
	if p.failures == nil {
		p.failures = map[string]reports{}
	}
	r := p.failures[c.Source()]
	if c.Success {
		r.hidden++
	} else {
		r.told++
	}
	p.failures[c.Source()] = r
}

// tells reports whether the source of a call is known to report the tool's failures: it reported
// several, and none that it did not report is known.
func (p *Profile) tells(c *memoryd.Call) bool {
	if p == nil || p.failures == nil {
		return false
	}
	r := p.failures[c.Source()]
	return r.told >= minHistory && r.hidden == 0
}

// silent reports whether most of the tool's successes are known to give nothing.
func (p *Profile) silent() bool {
	return p != nil && p.successes >= minHistory && 2*p.empty >= p.successes
}

// minHistory is how many calls say what is usual for a tool.
const minHistory = 3
