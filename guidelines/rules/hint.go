package rules

import "slices"

// Limits on hints: the newest calls are compared, and the chance of one may be larger.
const (
	hintedCalls = 160
	hintChance  = 0.5
)

// Hints lists conditions that are not rules yet, since too few calls or sources are behind
// them: calls of one source failed under them, and no good call met them. They warn only
// this source, and change no call.
func Hints(own string, calls []Call, found []Rule) []Rule {
	rows := rowsOf(calls, hintedCalls)
	open := make([]bool, len(rows))
	for i := range rows {
		r := &rows[i]
		r.kind = r.said
		open[i] = r.Bad && !slices.ContainsFunc(found, func(f Rule) bool { return slices.Contains(f.Behind, r.place) })
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
