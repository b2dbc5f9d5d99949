package guidelines

import (
	"slices"
	"strings"

	"memoryd/guidelines/evidence"
)

// shownErrors is how many error messages are listed.
const shownErrors = 5

// issues words what goes wrong.
func (f *findings) issues(d draft) {
	e := &f.evidence
	rank := 1
	if f.enough() {
		for i := range e.Conditions {
			c := &e.Conditions[i]
			if !c.Raises() {
				continue
			}
			if slices.ContainsFunc(c.Facts, f.incidental) {
				d.add(commonIssues, 4, f.goesWrong(c), "condition", f.worth(c)/2, c.ID)
				continue
			}
			d.add(commonIssues, rank, f.goesWrong(c), "condition", f.worth(c), c.ID)
			rank++
		}
	}
	f.messages(d)
	if f.enough() {
		for i := range e.Costs {
			if c := &e.Costs[i]; !f.told(c) {
				d.add(commonIssues, rank+1, dearer(c), "cost", f.worthOfCost(c), c.ID)
			}
		}
	}
	for _, o := range e.Outliers {
		if slices.ContainsFunc(e.Costs, func(c evidence.CostPattern) bool { return c.Resource == o.Resource }) {
			continue // the pattern says more
		}
		d.add(commonIssues, rank+2, sentence(ofN(o.Count, o.Known)+" calls took "+between(o)+" (median "+amount(o.Resource, o.Median)+")."),
			"outliers", f.share(o.Count)/2, o.ID)
	}
	if len(d[commonIssues]) == 0 {
		text := "None seen in " + count(e.Judged, "judged call") + "."
		if e.Judged == 0 {
			text = "Not enough data: no call has been judged yet."
		}
		d.add(commonIssues, 0, text, "none", 0, statisticsGround)
	}
}

// goesWrong words a condition with its counts and what it costs.
func (f *findings) goesWrong(c *evidence.Condition) string {
	text := facts(c.Facts, factPhrase, shownFacts)
	if text == "" {
		return ""
	}
	if len(c.Facts) > 1 && !c.Both {
		text += " (always together)"
	}
	text = sentence(text) + ": " + ofN(c.WithBad, c.With) + " " + badWord(c.Outcome) + ", otherwise " + ofN(c.WithoutBad, c.Without)
	var costs []string
	for _, p := range []struct {
		resource evidence.Resource
		cost     evidence.Cost
	}{{evidence.Time, c.Time}, {evidence.Tokens, c.Tokens}} {
		if differ(p.cost) {
			costs = append(costs, amount(p.resource, p.cost.MedianWith)+" instead of "+amount(p.resource, p.cost.MedianWithout))
		}
	}
	if len(costs) > 0 {
		text += "; median " + list(costs, "and")
	}
	return text + standing(c.Provisional) + "."
}

// standing marks what too little history bears out.
func standing(provisional bool) string {
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

// messages words the error clusters.
func (f *findings) messages(d draft) {
	e := &f.evidence
	wrong := 0
	for i := range e.Errors {
		wrong += e.Errors[i].Count
	}
	shown, rest := 0, 0
	for i := range e.Errors {
		c := &e.Errors[i]
		if shown == shownErrors || shown > 0 && c.Count == 1 && len(e.Errors) > shownErrors {
			rest += c.Count
			continue
		}
		text := messageName(c) + ": " + ofN(c.Count, wrong) + " calls that went wrong"
		if shown > 0 {
			text = messageName(c) + ": " + count(c.Count, "call")
		}
		text += f.when(c)
		if gap := e.Calls - 1 - c.Newest; c.Count > 1 && gap >= max(f.recent, 1) {
			text += " (none in the newest " + count(gap, "call") + ")"
		}
		ids := []string{c.ID}
		if c.When != nil {
			ids = append(ids, c.When.ID)
		}
		d.add(commonIssues, 1+shown, text+".", "message", f.share(c.Count), ids...)
		shown++
	}
}

// when words what goes with one message.
func (f *findings) when(c *evidence.ErrorCluster) string {
	if c.When == nil || !f.enough() || 5*c.When.WithBad < c.When.With || sameFacts(f.evidence.Conditions, c.When) {
		return ""
	}
	text := facts(c.When.Facts, factPhrase, 2)
	if text == "" {
		return ""
	}
	return "; " + ofN(c.When.WithBad, c.When.With) + " with " + text + ", otherwise " + ofN(c.When.WithoutBad, c.When.Without)
}

// sameFacts reports whether one of cs has told what c is about.
func sameFacts(cs []evidence.Condition, c *evidence.Condition) bool {
	return slices.ContainsFunc(cs, func(o evidence.Condition) bool {
		return o.Raises() && slices.Equal(o.Facts, c.Facts)
	})
}

// messageName quotes a cluster's message or says why there is none.
func messageName(c *evidence.ErrorCluster) string {
	switch {
	case c.EmptyOutput:
		return "Empty output"
	case c.Template == "" && c.Rule != "":
		return "No error message in the output (rule " + code(c.Rule) + ")"
	case c.Template == "":
		return "No error message in the output"
	}
	text, ok := quotedMessage(c.Template)
	if !ok {
		return "A message that is withheld because it reads like an instruction"
	}
	return text
}

// quotedMessage is a message between quotation marks, where it may be shown.
func quotedMessage(template string) (string, bool) {
	text, ok := quotable(template, messageLimit)
	return `"` + strings.TrimRight(text, " .") + `"`, ok
}

// told reports whether a condition has already given the medians of c.
func (f *findings) told(c *evidence.CostPattern) bool {
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

// dearer words a cost pattern from its dearer side where that has facts.
func dearer(c *evidence.CostPattern) string {
	text := facts(c.Facts, factPhrase, shownFacts)
	if text == "" {
		return ""
	}
	return sentence(text) + ": median " + amount(c.Resource, c.MedianWith) + " over " + count(c.With, "call") +
		", otherwise " + amount(c.Resource, c.MedianWithout) + standing(c.Provisional) + "."
}

func between(o evidence.Outliers) string {
	least, greatest := amount(o.Resource, o.Least), amount(o.Resource, o.Greatest)
	if least == greatest {
		return greatest
	}
	return least + " to " + greatest
}
