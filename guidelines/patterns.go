package guidelines

import (
	"slices"
	"strconv"
	"strings"

	"memoryd/guidelines/constraints"
	"memoryd/guidelines/evidence"
)

// shownFacts is how many facts of one condition are named.
const shownFacts = 4

// successes words what works.
func (f *findings) successes(d draft) {
	e := &f.evidence
	if e.Judged == 0 {
		d.add(successPatterns, 0, "Not enough data: no call has been judged yet.", "none", 0, statisticsGround)
		return
	}
	d.add(successPatterns, 0, f.overall(), "overall", overallValue, statisticsGround)
	if x := e.Exemplar; x != nil && len(d[bestPractices]) > 0 && d[bestPractices][0].slot != "like" {
		if shown := f.exemplar(x); shown != "" {
			rank := 1
			if len(e.Parameters) == 1 {
				rank = mostPractices // one text tells little
			}
			d.add(successPatterns, rank, "Typical good call: `"+shown+"` ("+ofN(x.Calls, x.Good)+" good calls gave these parameters).", "exemplar", coreValue/2, exemplarGround)
		}
	}
	if form := f.skeleton(); form != "" {
		d.add(successPatterns, 1, "No call has worked yet; by its messages one looks like `"+form+"`.", "skeleton", coreValue/2, parametersGround)
	}
	f.comesFrom(d)
	if !f.enough() {
		return
	}
	rank := 3
	for i := range e.Conditions {
		if text := f.works(&e.Conditions[i]); text != "" && f.holds(&e.Conditions[i]) {
			rank++
			d.add(successPatterns, rank, text, "works", f.worth(&e.Conditions[i])*worksShare, e.Conditions[i].ID)
		}
	}
}

// comesFrom says where the values of parameters are found, where one or two tools
// hold nearly all of them.
func (f *findings) comesFrom(d draft) {
	type found struct {
		names          []string
		seen, of, uses int
	}
	by := map[string]*found{}
	var order []string
	for i := range f.evidence.Sources {
		p := &f.evidence.Sources[i]
		path, known := f.Parameter(p.Path)
		held := 0
		for _, t := range p.Tools[:min(len(p.Tools), 2)] {
			if t.Tool != f.tool.Tool {
				held += t.Values
			}
		}
		from := f.toolNames(p)
		if !known || !p.Tells() || from == "" || 10*held < 9*p.Seen {
			continue
		}
		if by[from] == nil {
			by[from] = &found{}
			order = append(order, from)
		}
		s := by[from]
		s.names, s.seen, s.of, s.uses = append(s.names, "`"+path+"`"), s.seen+p.Seen, s.of+p.Of, max(s.uses, p.SeenAll)
	}
	for i, from := range order {
		s := by[from]
		verb := " comes from "
		if len(s.names) > 1 {
			verb = " come from "
		}
		d.add(successPatterns, mostPractices+i, list(s.names, "and")+verb+from+" ("+ofN(s.seen, s.of)+" values of good calls stood there or in another earlier answer).", "from "+strings.Join(s.names, " "), f.share(s.uses)/4, sourcesGround)
	}
}

// conditionLevel is the level at which a condition must hold over runs.
const conditionLevel = 0.01

// holds reports whether a condition may be published: it holds over runs as well as
// over calls, and it is about how to call, not about what was asked for.
func (f *findings) holds(c *evidence.Condition) bool {
	return !c.Sole && (c.RunP < 0 || c.RunP < conditionLevel) && !slices.ContainsFunc(c.Facts, f.incidental)
}

func (f *findings) overall() string {
	e := &f.evidence
	var text strings.Builder
	text.WriteString(ofN(e.Good, e.Judged) + " judged calls scored 1.0")
	for _, r := range []evidence.Resource{evidence.Time, evidence.Tokens} {
		if t := f.goodCost[r]; t.calls > 0 {
			if r == evidence.Time {
				text.WriteString(", taking ")
			} else if f.goodCost[evidence.Time].calls > 0 {
				text.WriteString(" and ")
			} else {
				text.WriteString(", taking ")
			}
			text.WriteString(amount(r, t.median))
		}
	}
	if f.goodCost[evidence.Time].calls+f.goodCost[evidence.Tokens].calls > 0 {
		text.WriteString(" (median)")
	}
	return text.String() + "."
}

// works words the good side of a condition: the facts that hold exactly when it
// does not, or the condition itself when it lowers the risk.
func (f *findings) works(c *evidence.Condition) string {
	good, n, bad, others, othersBad := c.Contrast, c.Without, c.WithoutBad, c.With, c.WithBad
	if !c.Raises() {
		good, n, bad, others, othersBad = c.Facts, c.With, c.WithBad, c.Without, c.WithoutBad
	}
	good = slices.DeleteFunc(slices.Clone(good), f.incidental)
	text := facts(good, factPhrase)
	if text == "" {
		return ""
	}
	return sentence(text) + ": " + ofN(n-bad, n) + " " + goodWord(c.Outcome) + ", otherwise " + ofN(others-othersBad, others) + provisionalNote(c.Provisional) + "."
}

// mostChoices is how many values a parameter has at most whose values are choices.
const mostChoices = 8

// incidental reports whether a fact says more about what callers happened to ask
// than about how to call: a value that names one thing, such as an id, a date, a name
// or a place.
func (f *findings) incidental(fact evidence.Fact) bool {
	if fact.Kind != evidence.ValueIs {
		return false
	}
	if _, err := strconv.ParseFloat(fact.Value, 64); err == nil || fact.Value == "true" || fact.Value == "false" {
		return false
	}
	if !constraints.Token(fact.Value) || strings.ContainsAny(fact.Value, "0123456789") {
		return true
	}
	for _, p := range f.evidence.Parameters {
		if p.Path == fact.Path {
			return p.Distinct > mostChoices
		}
	}
	return false
}

func goodWord(o evidence.Outcome) string {
	switch o {
	case evidence.Partial:
		return "scored 1.0"
	case evidence.Unsuccessful:
		return "were reported successful"
	}
	return "did not fail"
}

func badWord(o evidence.Outcome) string {
	switch o {
	case evidence.Partial:
		return "scored 0.5"
	case evidence.Unsuccessful:
		return "were reported unsuccessful"
	}
	return "failed"
}
