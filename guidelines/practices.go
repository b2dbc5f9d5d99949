package guidelines

import (
	"slices"

	"memoryd/guidelines/evidence"
)

// mostPractices is how many recommendations are given.
const mostPractices = 3

// practices words what to do about it: the first advice of each condition, then
// what helped after failures, then the rest.
func (f *findings) practices(d draft) {
	e := &f.evidence
	var all, rest []string
	if f.enough() {
		for i := range e.Conditions {
			if lines := f.advise(&e.Conditions[i]); len(lines) > 0 {
				all, rest = append(all, lines[0]), append(rest, lines[1:]...)
			}
		}
		all = append(all, f.avoidable()...)
	}
	all = append(all, f.recover(), f.repeat(), f.flag())
	all = append(all, rest...)
	all = append(all, f.cheaper(), f.check())
	rank := 0
	for _, text := range all {
		if text != "" && rank < mostPractices {
			d.add(bestPractices, rank, text)
			rank++
		}
	}
	switch {
	case rank > 0:
	case e.Judged == 0 || !f.enough():
		d.add(bestPractices, 0, "Not enough data for recommendations: "+count(e.Judged, "judged call")+".")
	default:
		d.add(bestPractices, 0, "Nothing to change: "+count(e.Judged, "judged call")+" showed no avoidable problem.")
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
			lines = append(lines, sentence(text)+".")
		}
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
func (f *findings) avoidable() []string {
	var texts []string
	for i := range f.evidence.Errors {
		c := &f.evidence.Errors[i]
		if c.When == nil || !f.enough() || slices.ContainsFunc(c.When.Facts, f.incidental) || 2*c.When.WithBad < c.When.With {
			continue
		}
		if text := facts(c.When.Facts, factPhrase, 2); text != "" && !sameFacts(f.evidence.Conditions, c.When) {
			texts = append(texts, "Avoid "+text+": "+ofN(c.When.WithBad, c.When.With)+" led to the same message.")
		}
	}
	return texts
}

// recover says which change helped after which message.
func (f *findings) recover() string {
	if len(f.evidence.Parameters) < 2 {
		return ""
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
		return "After " + message + ", change " + list(names, "and") + " and try again: worked " +
			ofN(r.Succeeded, r.Tries) + " times."
	}
	return ""
}

// repeat warns of repeating a failed call unchanged.
func (f *findings) repeat() string {
	r, other := f.evidence.Repeats, f.evidence.Changes
	if r.Tries < 3 || 4*r.Succeeded > r.Tries {
		return ""
	}
	text := "Do not repeat a failed call unchanged: " + ofN(r.Succeeded, r.Tries) + " such repeats succeeded"
	if other.Tries >= 3 && other.Succeeded*r.Tries > r.Succeeded*other.Tries {
		text += ", with a changed input " + ofN(other.Succeeded, other.Tries)
	}
	return text + "."
}

// flag warns of a success flag that says too much.
func (f *findings) flag() string {
	e := &f.evidence
	if e.Overstated < 3 || 2*e.Overstated < e.Failed {
		return ""
	}
	return "Read the output, not only the success flag: " + ofN(e.Overstated, e.Failed) + " failed calls were reported as successful."
}

// check points at the most frequent message that no condition explains.
func (f *findings) check() string {
	for i := range f.evidence.Errors {
		c := &f.evidence.Errors[i]
		message, ok := quotedMessage(c.Template)
		if !ok || c.Count < 2 || c.When != nil && sameFacts(f.evidence.Conditions, c.When) {
			continue
		}
		return "Before calling, rule out the cause of " + message + " (" + count(c.Count, "call") + ")."
	}
	return ""
}

// cheaper says how to spend less.
func (f *findings) cheaper() string {
	for i := range f.evidence.Costs {
		c := &f.evidence.Costs[i]
		if c.MedianWith < c.MedianWithout || !f.enough() || f.told(c) {
			continue
		}
		for j := range c.Contrast {
			if text := advice(c.Contrast[j], nil); text != "" {
				return sentence(text) + " where possible: median " + amount(c.Resource, c.MedianWithout) + " instead of " + amount(c.Resource, c.MedianWith) + "."
			}
		}
		if text := facts(c.Facts, factPhrase, 1); text != "" {
			return "Use " + text + " only where needed: median " + amount(c.Resource, c.MedianWith) + " instead of " + amount(c.Resource, c.MedianWithout) + "."
		}
	}
	return ""
}
