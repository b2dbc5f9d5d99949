package guidelines

import (
	"slices"
	"strconv"

	"memoryd/guidelines/evidence"
)

// mostPractices is how many recommendations are given.
const mostPractices = 3

// practices words what to do about it: the first advice of each condition, then
// what helped after failures, then the rest.
func (f *findings) practices(d draft) {
	e := &f.evidence
	var all, rest []statement
	if f.enough() {
		for i := range e.Conditions {
			c := &e.Conditions[i]
			for k, line := range f.advise(c) {
				s := statement{text: line, slot: "advice " + strconv.Itoa(k), value: f.worth(c) * adviceShare, evidence: []string{c.ID}}
				if k == 0 {
					all = append(all, s)
				} else {
					rest = append(rest, s)
				}
			}
		}
		all = append(all, f.avoidable()...)
	}
	all = append(all, f.recover(), f.repeat(), f.flag())
	all = append(all, rest...)
	all = append(all, f.cheaper(), f.check())
	rank := 0
	for _, s := range all {
		if s.text != "" && rank < mostPractices {
			s.rank = rank
			d[bestPractices] = append(d[bestPractices], s)
			rank++
		}
	}
	switch {
	case rank > 0:
	case e.Judged == 0 || !f.enough():
		d.add(bestPractices, 0, "Not enough data for recommendations: "+count(e.Judged, "judged call")+".", "few", 0, statisticsGround)
	default:
		d.add(bestPractices, 0, "Nothing to change: "+count(e.Judged, "judged call")+" showed no avoidable problem.", "none", 0, statisticsGround)
	}
}

// advise turns a condition into things to do, one for each parameter.
func (f *findings) advise(c *evidence.Condition) []string {
	if slices.ContainsFunc(c.Facts, f.incidental) {
		return nil
	}
	var lines []string
	add := func(text string) {
		if text != "" {
			lines = append(lines, sentence(text)+standing(c.Provisional)+".")
		}
	}
	if c.Both {
		if text := facts(c.Facts, factPhrase, shownFacts); text != "" {
			add("avoid " + text + " in one call")
		}
		return lines
	}
	if !c.Raises() {
		for _, fact := range c.Facts {
			add(advice(fact, nil))
		}
		return lines
	}
	for i := range c.Facts {
		bad := &c.Facts[i]
		at := slices.IndexFunc(c.Contrast, func(g evidence.Fact) bool { return g.Path == bad.Path })
		switch {
		case at >= 0 && advice(c.Contrast[at], bad) != "":
			add(advice(c.Contrast[at], bad))
		case 2*c.WithBad >= c.With && factPhrase(*bad) != "":
			add("avoid " + factPhrase(*bad))
		}
	}
	return lines
}

// avoidable turns what goes with one message into a recommendation.
func (f *findings) avoidable() []statement {
	var texts []statement
	for i := range f.evidence.Errors {
		c := &f.evidence.Errors[i]
		if c.When == nil || !f.enough() || slices.ContainsFunc(c.When.Facts, f.incidental) || 2*c.When.WithBad < c.When.With {
			continue
		}
		if text := facts(c.When.Facts, factPhrase, 2); text != "" && !sameFacts(f.evidence.Conditions, c.When) {
			texts = append(texts, statement{
				text: "Avoid " + text + ": " + ofN(c.When.WithBad, c.When.With) + " led to the same message.",
				slot: "avoid", value: f.worth(c.When) * adviceShare, evidence: []string{c.ID, c.When.ID},
			})
		}
	}
	return texts
}

// recover says which change helped after which message.
func (f *findings) recover() statement {
	if len(f.evidence.Parameters) < 2 {
		return statement{}
	}
	for i := range f.evidence.Recoveries {
		r := &f.evidence.Recoveries[i]
		message, ok := quotedMessage(r.Template)
		if !ok || r.Succeeded < 2 || 2*r.Succeeded < r.Tries {
			continue
		}
		var names []string
		for _, p := range r.Changed {
			names = append(names, pathName(p))
		}
		return statement{
			text: "After " + message + ", change " + list(names, "and") + " and try again: worked " + ofN(r.Succeeded, r.Tries) + " times.",
			slot: "recovery", value: f.share(r.Succeeded), evidence: []string{r.ID},
		}
	}
	return statement{}
}

// repeat warns of repeating a failed call unchanged.
func (f *findings) repeat() statement {
	r, other := f.evidence.Repeats, f.evidence.Changes
	if r.Tries < 3 || 4*r.Succeeded > r.Tries {
		return statement{}
	}
	text := "Do not repeat a failed call unchanged: " + ofN(r.Succeeded, r.Tries) + " such repeats succeeded"
	if other.Tries >= 3 && other.Succeeded*r.Tries > r.Succeeded*other.Tries {
		text += ", with a changed input " + ofN(other.Succeeded, other.Tries)
	}
	return statement{text: text + ".", slot: "repeat", value: f.share(r.Tries - r.Succeeded), evidence: []string{retriesGround}}
}

// flag warns of a success flag that says too much.
func (f *findings) flag() statement {
	e := &f.evidence
	if e.Overstated < 3 || 2*e.Overstated < e.Failed {
		return statement{}
	}
	return statement{
		text: "Read the output, not only the success flag: " + ofN(e.Overstated, e.Failed) + " failed calls were reported as successful.",
		slot: "flag", value: f.share(e.Overstated) / 2, evidence: []string{statisticsGround},
	}
}

// check points at the most frequent message that no condition explains.
func (f *findings) check() statement {
	for i := range f.evidence.Errors {
		c := &f.evidence.Errors[i]
		message, ok := quotedMessage(c.Template)
		if !ok || c.Count < 2 || c.When != nil && sameFacts(f.evidence.Conditions, c.When) {
			continue
		}
		return statement{
			text: "Before calling, rule out the cause of " + message + " (" + count(c.Count, "call") + ").",
			slot: "check", value: f.share(c.Count) / 2, evidence: []string{c.ID},
		}
	}
	return statement{}
}

// cheaper says how to spend less.
func (f *findings) cheaper() statement {
	for i := range f.evidence.Costs {
		c := &f.evidence.Costs[i]
		if c.MedianWith < c.MedianWithout || !f.enough() || f.told(c) {
			continue
		}
		for j := range c.Contrast {
			if text := advice(c.Contrast[j], nil); text != "" {
				text = sentence(text) + " where possible: median " + amount(c.Resource, c.MedianWithout) + " instead of " + amount(c.Resource, c.MedianWith) + "."
				return statement{text: text, slot: "cheaper", value: f.worthOfCost(c) / 2, evidence: []string{c.ID}}
			}
		}
		if text := facts(c.Facts, factPhrase, 1); text != "" {
			text = "Use " + text + " only where needed: median " + amount(c.Resource, c.MedianWith) + " instead of " + amount(c.Resource, c.MedianWithout) + "."
			return statement{text: text, slot: "cheaper", value: f.worthOfCost(c) / 2, evidence: []string{c.ID}}
		}
	}
	return statement{}
}
