package guidelines

import (
	"slices"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// shownErrors is how many error messages are listed.
const shownErrors = 5

// issues words what goes wrong beyond what the recommendations tell.
func (f *findings) issues(d draft) {
	e := &f.evidence
	rank := 3
	if e.Overstated >= 3 && 2*e.Overstated >= e.Failed {
		text := ofN(e.Overstated, e.Failed) + " failed calls were reported as successful."
		d.add(commonIssues, mostPractices+shownErrors, text, "flag", f.share(e.Overstated)/2, statisticsGround)
	}
	if f.enough() {
		for i := range e.Conditions {
			if c := &e.Conditions[i]; c.Raises() && f.holds(c) {
				d.add(commonIssues, rank, f.goesWrong(c), "condition", f.worth(c), c.ID)
				rank += 2
			}
		}
	}
	f.messages(d)
	if f.enough() {
		for i := range e.Costs {
			if c := &e.Costs[i]; !c.Sole && !f.hasMedians(c) && !slices.ContainsFunc(c.Facts, f.incidental) && matters(c.Resource, c.Cost) {
				d.add(commonIssues, rank+4, dearer(c), "cost", f.worthOfCost(c), c.ID)
			}
		}
	}
	for _, o := range e.Outliers {
		if slices.ContainsFunc(e.Costs, func(c evidence.CostPattern) bool { return c.Resource == o.Resource }) || o.Resource == evidence.Time && o.Greatest-o.Median < 1 {
			continue // the pattern says more
		}
		d.add(commonIssues, rank+5, sentence(ofN(o.Count, o.Known)+" calls took "+between(o)+" (median "+amount(o.Resource, o.Median)+")."),
			"outliers", f.share(o.Count)/2, o.ID)
	}
	if len(d[commonIssues]) == 0 {
		text := "None beyond those below."
		if e.Failed+e.Partial == 0 {
			text = "None seen in " + count(e.Judged, "judged call") + "."
		}
		if e.Judged == 0 {
			text = "Not enough data: no call has been judged yet."
		}
		d.add(commonIssues, 0, text, "none", 0, statisticsGround)
	}
}

// matters reports whether a difference of costs is worth advice: a second or more
// and a fifth or more.
func matters(r evidence.Resource, c evidence.Cost) bool {
	most, least := max(c.MedianWith, c.MedianWithout), min(c.MedianWith, c.MedianWithout)
	return most >= 1.2*least && (r != evidence.Time || most-least >= 1)
}

// goesWrong words a condition with its counts and what it costs.
func (f *findings) goesWrong(c *evidence.Condition) string {
	text := facts(c.Facts, factPhrase)
	if text == "" {
		return ""
	}
	if len(c.Facts) > 1 {
		text += " (always together)"
	}
	text = sentence(text) + ": " + ofN(c.WithBad, c.With) + " " + badWord(c.Outcome) + ", otherwise " + ofN(c.WithoutBad, c.Without)
	var costs []string
	for _, p := range []struct {
		resource evidence.Resource
		cost     evidence.Cost
	}{{evidence.Time, c.Time}, {evidence.Tokens, c.Tokens}} {
		if differ(p.cost) && matters(p.resource, p.cost) {
			costs = append(costs, amount(p.resource, p.cost.MedianWith)+" instead of "+amount(p.resource, p.cost.MedianWithout))
		}
	}
	if len(costs) > 0 {
		text += "; median " + list(costs, "and")
	}
	return text + provisionalNote(c.Provisional) + "."
}

// provisionalNote marks what too little history bears out.
func provisionalNote(provisional bool) string {
	if provisional {
		return " (provisional)"
	}
	return ""
}

// differ reports whether both medians rest on a few calls and are apart by a
// tenth.
func differ(c evidence.Cost) bool {
	return c.With >= 3 && c.Without >= 3 &&
		max(c.MedianWith, c.MedianWithout) >= 1.1*min(c.MedianWith, c.MedianWithout)
}

// messages words the messages that no recommendation is about.
func (f *findings) messages(d draft) {
	type line struct {
		text   string
		calls  int
		held   string // a message that is not shown yet, of so many of the calls
		heldOf int
		ids    []string
	}
	var lines []line
	if f.broken() {
		return
	}
	for i := range f.evidence.Causes {
		c := &f.evidence.Causes[i]
		if f.advised[c.ID] {
			continue
		}
		text := sentence(c.Names())
		qs, held := f.quotes(c)
		if len(qs) > 0 {
			text = "Failed for no known reason" // what the tool said stands in its own section
		} else if c.Class == constraints.Failed {
			switch {
			case f.empty(c):
				text = "Empty output"
			case slices.ContainsFunc(c.Quotes, func(q evidence.Quote) bool { return q.Text != "" }):
				text = "Messages that are not shown"
			default:
				text = "No message that could be read"
			}
		}
		at := slices.IndexFunc(lines, func(l line) bool { return l.text == text })
		if at < 0 {
			at = len(lines)
			lines = append(lines, line{text: text, held: held, heldOf: c.Count})
		}
		lines[at].calls += c.Count
		lines[at].ids = append(lines[at].ids, c.ID)
	}
	for i, l := range lines[:min(len(lines), shownErrors)] {
		d.add(commonIssues, mostPractices+1+i, l.text+": "+count(l.calls, "call")+".", "message", f.share(l.calls), l.ids...)
		if l.held != "" {
			text := l.held + ": " + count(l.heldOf, "call")
			if l.calls > l.heldOf {
				text += "; others: " + count(l.calls-l.heldOf, "call")
			}
			d.hold(commonIssues, text+".")
		}
	}
}

// empty reports whether the outputs of a cause's calls were empty.
func (f *findings) empty(c *evidence.Cause) bool {
	return len(c.Quotes) == 1 && c.Quotes[0].Text == ""
}

// broken reports whether the only recommendation is to leave the tool alone.
func (f *findings) broken() bool { return f.stopped() != nil }

// hasMedians reports whether a condition has already given the medians of c.
func (f *findings) hasMedians(c *evidence.CostPattern) bool {
	for i := range f.evidence.Conditions {
		cond := &f.evidence.Conditions[i]
		cost := cond.Time
		if c.Resource == evidence.Tokens {
			cost = cond.Tokens
		}
		if cond.Raises() && (cost == c.Cost || cost == (evidence.Cost{
			With: c.Without, Without: c.With, MedianWith: c.MedianWithout, MedianWithout: c.MedianWith,
		})) {
			return true
		}
	}
	return false
}

// dearer words a cost pattern.
func dearer(c *evidence.CostPattern) string {
	text := facts(c.Facts, factPhrase)
	if text == "" {
		return ""
	}
	return sentence(text) + ": median " + amount(c.Resource, c.MedianWith) + " over " + count(c.With, "call") +
		", otherwise " + amount(c.Resource, c.MedianWithout) + "."
}

func between(o evidence.Outliers) string {
	least, greatest := amount(o.Resource, o.Least), amount(o.Resource, o.Greatest)
	if least == greatest {
		return greatest
	}
	return least + " to " + greatest
}
