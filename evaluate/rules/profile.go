package rules

import (
	"memoryd"
	"memoryd/internal/reading"
)

// Profile counts a tool's earlier successes, and those that gave nothing. Observe must not run
// concurrently with anything else on the same profile. Many goroutines may judge with one profile.
type Profile struct{ successes, empty int }

// Observe adds a call to the profile, if it was judged a success.
func (p *Profile) Observe(c *memoryd.Call) {
	if c.Evaluation.Score < memoryd.ScoreSuccess {
		return
	}
	p.successes++
	if IsBlank(reading.Bare(c.Output)) {
		p.empty++
	}
}

// silent reports whether most of the tool's successes are known to give nothing.
func (p *Profile) silent() bool {
	return p != nil && p.successes >= minHistory && 2*p.empty >= p.successes
}

// minHistory is how many successes say what is usual for a tool.
const minHistory = 3
