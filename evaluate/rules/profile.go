package rules

import (
	"memoryd"
	"memoryd/internal/reading"
)

// Profile counts a tool's earlier successes, and those that gave nothing, and keeps what is known of the calls of each
// source. Observe must not run concurrently with anything else on the same profile.
// Many goroutines may judge with one profile.
type Profile struct {
	successes, empty int
	sources          map[string]account
}

// account is what is known of a source's calls of a tool. Nothing that other sources recorded is part of it, since an
// author of outputs could make a tool look like anything.
type account struct {
	told, hidden int             // failures that the source reported, and those that only a fact shows
	seen         float64         // calls that the learned score was asked of and that did not fail
	doubt        float64         // the mean of its doubts of them
	forms        map[uint64]bool // that they had
}

// Doubt is what the learned score alone says of a call.
type Doubt struct {
	Odds float64 // log odds of a failure; 0 where nobody asked it
	Form uint64  // of the output
}

// Observe adds a judged call to the profile, with the doubt of its result.
func (p *Profile) Observe(c *memoryd.Call, doubt Doubt) {
	if p.sources == nil {
		p.sources = map[string]account{}
	}
	a := p.sources[c.Source()]
	switch {
	case c.Evaluation.Score > memoryd.ScoreFailure:
		a.usual(doubt)
	case !c.Success:
		a.told++
	case c.Evaluation.Rule != scoreRule:
		a.hidden++
	}
	p.sources[c.Source()] = a
	if c.Evaluation.Score < memoryd.ScoreSuccess {
		return
	}
	p.successes++
	if IsBlank(reading.Bare(c.Output)) {
		p.empty++
	}
}

// of is what is known of the calls of the source that recorded c.
func (p *Profile) of(c *memoryd.Call) account {
	if p == nil || p.sources == nil {
		return account{}
	}
	return p.sources[c.Source()]
}

// tells reports whether the source is known to report the tool's failures: it reported
// several, and none that it did not report is known.
func (a *account) tells() bool { return a.told >= minHistory && a.hidden == 0 }

// silent reports whether most of the tool's successes are known to give nothing.
func (p *Profile) silent() bool {
	return p != nil && p.successes >= minHistory && 2*p.empty >= p.successes
}

// minHistory is how many calls say what is usual for a tool.
const minHistory = 3

// What the learned score says of calls that did not fail, in log odds of a failure: that of a tool that nobody knows, how
// many calls that counts as, how much one can count, and by how much a tool can differ from others. So many forms of its
// outputs are remembered.
const (
	usualDoubt  = -3.0
	usualWeight = 5
	mostDoubt   = 6.0
	mostUnusual = 1.5
	mostForms   = 64
)

// usual lets a doubt count among those that are usual.
func (a *account) usual(d Doubt) {
	if d.Odds == 0 {
		return
	}
	a.seen++
	a.doubt += (min(max(d.Odds, -mostDoubt), mostDoubt) - a.doubt) / a.seen
	if a.forms == nil {
		a.forms = map[uint64]bool{}
	}
	if len(a.forms) < mostForms {
		a.forms[d.Form] = true
	}
}

// unusual is what a tool's doubts have more than those of other tools, as far as calls of the same source show: the prose
// of one that reads is never as clear as the "Saved." of one that writes. That excuses no output of a form that none of
// them had: a service answers with a record, and with a message where it refuses.
func (a *account) unusual(form uint64) float64 {
	more := min(max(a.seen/(a.seen+usualWeight)*(a.doubt-usualDoubt), -mostUnusual), mostUnusual)
	if !a.forms[form] {
		return min(more, 0)
	}
	return more
}
