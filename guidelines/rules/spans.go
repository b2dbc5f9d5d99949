package rules

import "slices"

// spans are over how many of the newest good calls rules are looked for in turn, 0 for
// all: where the tool has changed, older good calls speak against what is true today.
var spans = [...]int{0, 14, 7}

// distinctSpans is for how many the short spans count among the tests.
const distinctSpans = 2

// activeSpan is over how many of the newest good calls a party is active.
const activeSpan = 80

// wrong lists the rules on what calls went wrong.
func wrong(own string, rows []row, proposed []Proposal) []Rule {
	var found []Rule
	kinds := map[string]bool{}
	open := make([]bool, len(rows)) // went wrong, and no rule explains it
	for i := range rows {
		open[i] = rows[i].Bad
	}
	last := -1
	for _, span := range spans {
		from := newest(rows, span)
		if from < 0 || from == last {
			continue
		}
		last = from
		s := search{
			rows: rows[from:], open: open[from:], before: rows[:from], wasOpen: open[:from], recent: span > 0,
			several: several(rows), parties: parties(rows), own: own, proposed: proposed, kinds: kinds,
		}
		found = append(found, s.run()...)
	}
	return tightest(discovered(found, len(kinds)))
}

// newest is the place from which on so many good calls stand, and of each active party its
// share of them: one that floods a tool does not decide what is newest. It is -1 where there
// are fewer.
func newest(rows []row, span int) int {
	if span == 0 {
		return 0
	}
	active := activeParties(rows)
	share := (span + len(active) - 1) / max(1, len(active))
	good, of := 0, map[uint64]int{}
	for i := range slices.Backward(rows) {
		if rows[i].Bad {
			continue
		}
		good++
		if p := rows[i].Party; active[p] {
			if of[p]++; of[p] == share {
				delete(active, p)
			}
		}
		if good >= span && len(active) == 0 {
			return i
		}
	}
	return -1
}

// activeParties are those with enough of the newest good calls; all others count as one.
func activeParties(rows []row) map[uint64]bool {
	good, of := 0, map[uint64]int{}
	for i := range slices.Backward(rows) {
		if good < activeSpan && !rows[i].Bad {
			good++
			of[rows[i].Party]++
		}
	}
	active := map[uint64]bool{}
	for p, n := range of {
		if n >= spans[len(spans)-1] {
			active[p] = true
		}
	}
	return active
}

// wavers reports whether no fewer calls under a condition failed so, before the last that went well
// under it, than went well: then it is not the tool that has changed since.
func (s *search) wavers(c *candidate, kind string) bool {
	failed, good, of := 0, 0, 0 // of them before the last good one
	for i := range s.before {
		switch r := &s.before[i]; {
		case r.Bad && (r.kind != kind || !s.wasOpen[i]), !c.holds(r):
		case r.Bad:
			failed++
		default:
			good, of = good+1, failed
		}
	}
	return of >= max(leastBad, good)
}
