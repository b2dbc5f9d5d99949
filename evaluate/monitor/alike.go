package monitor

import (
	"fmt"

	"memoryd/internal/stats"
)

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
		a.warned = fmt.Sprintf("the newest %d verdicts are all %s, of those before only %d of %d", a.run, name, earlier-others, earlier)
	case others == 0 && a.ruled[a.level] > 0 && ruledOther >= mindsShare*float64(a.ruled.sum()):
		a.warned = fmt.Sprintf("all verdicts so far are %s, the rules gave %.0f of the newest %d calls another score", name, ruledOther, a.ruled.sum())
	}
	return a.warned
}
