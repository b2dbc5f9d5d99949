package rules

import "slices"

// Limits on hints: the newest calls are compared, and the chance of one may be larger. Of a loose
// condition it may be less so.
const (
	hintedCalls = 160
	hintChance  = 0.5
	looseChance = 0.2
)

// mostChance is the largest chance of a condition that is told. One that many calls meet that went wrong
// for another reason is loose: that a parameter was given, or a number beyond those that worked, where no
// message names it.
func (s *search) mostChance(c *candidate, kind string) float64 {
	switch {
	case !s.hints:
		return falseDiscovery
	case (c.what == with || c.what.sort() == above) && !c.named(kind):
		return looseChance
	}
	return hintChance
}

// Hints lists conditions that are not rules yet, since too few calls or sources are behind
// them: calls of one source failed under them, not only found nothing, and no good call met them. They warn only
// this source, and change no call.
func Hints(own string, calls []Call, found []Rule) []Rule {
	rows := rowsOf(own, calls, hintedCalls)
	open := make([]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		open[i] = r.Bad && !r.Empty && !slices.ContainsFunc(found, func(f Rule) bool { return slices.Contains(f.Behind, r.place) })
		r.kind = r.said
	}
	s := search{rows: rows, open: open, parties: parties(rows), own: own, kinds: map[string]bool{}, hints: true}
	var hints []Rule
	for _, r := range s.run() {
		r.Source = calls[r.Behind[0]].Source
		if r.Good == 0 && !slices.ContainsFunc(r.Behind, func(at int) bool { return calls[at].Source != r.Source }) {
			hints = append(hints, r)
		}
	}
	return hints
}
