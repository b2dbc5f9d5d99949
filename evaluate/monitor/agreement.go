package monitor

import (
	"fmt"

	"memoryd/internal/stats"
)

// agreements counts how often two judges agreed.
type agreements struct{ n, agree int }

func (t *agreements) add(agreed bool) {
	t.n++
	if agreed {
		t.agree++
	}
}

func (t *agreements) rate() float64 { return float64(t.agree) / float64(max(1, t.n)) }

// maxEarlier bounds what the newest evaluations are compared with: beyond it the
// count is halved, so that what is long ago counts less.
const maxEarlier = 8192

func (t *agreements) bounded() {
	if t.n > maxEarlier {
		t.n, t.agree = t.n/2, t.agree/2
	}
}

// agreement follows how often a judge agrees with another.
type agreement struct {
	all    agreements // ever
	now    agreements // of the window
	window ring[bool] // the newest
	before agreements // what came before the window
	since  int        // additions since the last look
	drop   string     // the warning, "" while there is none
}

func newAgreement(window int) agreement { return agreement{window: newRing[bool](window)} }

// add takes in one comparison. While a warning stands, what leaves the window is
// not counted as earlier, so that a judge that went bad is not measured by
// itself.
func (a *agreement) add(agreed bool) {
	a.all.add(agreed)
	a.now.add(agreed)
	a.since++
	out, full := a.window.push(agreed)
	if !full {
		return
	}
	a.now.n--
	if out {
		a.now.agree--
	}
	if a.drop == "" {
		a.before.add(out)
		a.before.bounded()
	}
}

// Each window is looked at so many times in its length, with this much of a
// chance of a false alarm in all.
const (
	looks     = 4
	dropLevel = 0.001
	goneLevel = 0.05
)

// review gives the warning that stands. It looks once in a quarter of a window,
// from two full windows on; a warning that stands ends when the drop could be
// chance.
func (a *agreement) review(f stats.Fisher, with string) string {
	if a.since < a.window.size/looks || a.before.n < a.window.size {
		return a.drop
	}
	a.since = 0
	p := 1.0
	if a.now.rate() < a.before.rate() {
		p = f.P(stats.Table{
			With: a.now.n, WithBad: a.now.n - a.now.agree, Without: a.before.n, WithoutBad: a.before.n - a.before.agree,
		})
	}
	switch {
	case a.drop == "" && p < dropLevel/looks, a.drop != "" && p < goneLevel:
		a.drop = fmt.Sprintf("agreement with %s dropped from %.0f%% to %.0f%% in the newest %d verdicts",
			with, 100*a.before.rate(), 100*a.now.rate(), a.now.n)
	default:
		a.drop = ""
	}
	return a.drop
}

// alike follows runs of one score.
type alike struct {
	after  int
	level  int    // of the run
	run    int    // its length
	before levels // evaluations before the run
	ruled  levels // what the rules said of the run's calls
	warned string
}

// maxRun bounds the length of a run as the test sees it; the rest of a longer one
// adds nothing.
const maxRun = 4096

// add takes in an evaluation and the rules' one on the same call.
func (a *alike) add(level, ruled int) {
	if level != a.level && a.run > 0 {
		a.before[a.level] += int64(a.run)
		for a.before.sum() > maxEarlier {
			a.before = levels{a.before[0] / 2, a.before[1] / 2, a.before[2] / 2}
		}
		a.run, a.ruled, a.warned = 0, levels{}, ""
	}
	a.level = level
	a.run = min(a.run+1, maxRun)
	a.ruled[ruled]++
}

const (
	// alikeLevel is the p value below which a run is no chance; see the package
	// comment.
	alikeLevel = 5e-6
	// alikeStep is how many evaluations lie between two looks at a run.
	alikeStep = 10
	// mindsShare is the share of its calls that the rules must have given another
	// score before a judge that never differed is doubted.
	mindsShare = 0.2
)

// review gives the warning that stands.
func (a *alike) review(f stats.Fisher) string {
	if a.warned != "" || a.run < a.after || (a.run-a.after)%alikeStep != 0 {
		return a.warned
	}
	name := levelNames()[a.level]
	earlier, others := int(a.before.sum()), int(a.before.sum()-a.before[a.level])
	p := f.P(stats.Table{With: a.run, WithBad: 0, Without: earlier, WithoutBad: others})
	ruledOther := float64(a.ruled.sum() - a.ruled[a.level])
	switch {
	case others > 0 && p < alikeLevel:
		a.warned = fmt.Sprintf("the newest %d verdicts are all %s; before, only %d of %d were", a.run, name, earlier-others, earlier)
	case others == 0 && a.ruled[a.level] > 0 && ruledOther >= mindsShare*float64(a.ruled.sum()):
		a.warned = fmt.Sprintf("all verdicts so far are %s, but the rules scored %.0f of the newest %d calls differently", name, ruledOther, a.ruled.sum())
	}
	return a.warned
}
