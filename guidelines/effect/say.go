package effect

import (
	"fmt"
	"math"
	"time"
)

// Verdict summarises in a few words whether advice helps.
func (e *Effect) Verdict() string {
	switch {
	case e.Basis != heldOut && e.Basis != beforeAfter:
		return "Not enough data"
	case e.Less.Low > 0:
		return fmt.Sprintf("%s failed calls avoided", span(e.Avoided))
	case e.Less.High < 0:
		return fmt.Sprintf("%s more failed calls", span(Range{-e.Avoided.High, -e.Avoided.Best, -e.Avoided.Low}))
	}
	return "No difference is shown"
}

// Because returns the basis of the verdict.
func (e *Effect) Because() string {
	const told = "Runs that were told failed in "
	switch e.Basis {
	case heldOut:
		return told + e.Told.rate() + ", runs that were told nothing in " + e.Untold.rate() + "." + e.saved() + e.unreported()
	case beforeAfter:
		return told + e.Told.rate() + ", calls before in " + e.Before.rate() + "." + e.saved() + e.unreported() +
			" This is an estimate: other things changed too. With revisions.untold_share some runs are told nothing, to compare with."
	}
	if e.Told.Calls+e.Untold.Calls == 0 {
		return "No call says whether its run was told. Agents that ask with the session_id that their calls name are compared."
	}
	return fmt.Sprintf("Told: %s. Told nothing: %s. Before: %s. Each side needs %d runs and %d calls, and both together %d failed calls.",
		e.Told.size(), e.Untold.size(), e.Before.size(), leastRuns, leastCalls, leastFailures)
}

// unreported says why a range is wide.
func (e *Effect) unreported() string {
	n := e.Told.Worded + e.Untold.Worded + e.Before.Worded
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d failures and partial successes are known from wording only, which may miss as many: report success for a narrower range.", n)
}

func (g *Group) rate() string {
	return fmt.Sprintf("%.0f %% of %d calls (%.0f to %.0f %%)", 100*g.Rate, g.Calls, 100*g.CI95[0], 100*g.CI95[1])
}

func (g *Group) size() string { return fmt.Sprintf("%d runs with %d calls", g.Runs, g.Calls) }

// saved says what failed calls that were avoided would have taken.
func (e *Effect) saved() string {
	if e.Less.Low <= 0 {
		return ""
	}
	s := ""
	if e.Seconds.High >= 1 {
		s = fmt.Sprintf(" Time saved in these calls: %s to %s.", duration(e.Seconds.Low), duration(e.Seconds.High))
	}
	if e.Tokens.High >= 1 {
		s += fmt.Sprintf(" Tokens: %s.", span(e.Tokens))
	}
	return s
}

func span(r Range) string {
	low, high := math.Floor(r.Low), math.Ceil(r.High)
	return fmt.Sprintf("%.0f to %.0f", low, high)
}

func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d > time.Minute {
		return d.Round(time.Minute / 10).String()
	}
	return d.Round(time.Second / 10).String()
}
