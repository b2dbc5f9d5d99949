package guidelines

import (
	"slices"
	"strconv"
	"strings"

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
	if !f.enough() {
		d.add(successPatterns, 1, "Not enough data for patterns: "+count(e.Judged, "judged call")+", "+number(float64(f.minCalls))+" needed.", "few", 0, statisticsGround)
		return
	}
	rank := 1
	for i := range e.Conditions {
		if text := f.works(&e.Conditions[i]); text != "" {
			rank++
			d.add(successPatterns, rank, text, "works", f.worth(&e.Conditions[i])*worksShare, e.Conditions[i].ID)
		}
	}
	if len(e.Conditions) == 0 && e.Good > 0 && e.Good < e.Judged {
		d.add(successPatterns, 2, "No parameter value tells good calls from bad ones so far.", "no pattern", 0, statisticsGround)
	}
}

func (f *findings) overall() string {
	e := &f.evidence
	text := ofN(e.Good, e.Judged) + " judged calls scored 1.0"
	for _, r := range []evidence.Resource{evidence.Time, evidence.Tokens} {
		if t := f.goodCost[r]; t.calls > 0 {
			if r == evidence.Time {
				text += ", taking "
			} else if f.goodCost[evidence.Time].calls > 0 {
				text += " and "
			} else {
				text += ", taking "
			}
			text += amount(r, t.median)
		}
	}
	if f.goodCost[evidence.Time].calls+f.goodCost[evidence.Tokens].calls > 0 {
		text += " (median)"
	}
	return text + "."
}

// works words the good side of a condition: the facts that hold exactly when it
// does not, or the condition itself when it lowers the risk.
func (f *findings) works(c *evidence.Condition) string {
	good, n, bad, others, othersBad := c.Contrast, c.Without, c.WithoutBad, c.With, c.WithBad
	if !c.Raises() {
		good, n, bad, others, othersBad = c.Facts, c.With, c.WithBad, c.Without, c.WithoutBad
	}
	if !c.Raises() && slices.ContainsFunc(good, f.incidental) {
		return ""
	}
	if c.Raises() {
		good = slices.DeleteFunc(slices.Clone(good), func(g evidence.Fact) bool { return lengthOnly(g, c.Facts) })
	}
	text := facts(good, factPhrase, shownFacts)
	if text == "" {
		return ""
	}
	return sentence(text) + ": " + ofN(n-bad, n) + " " + goodWord(c.Outcome) + ", otherwise " + ofN(others-othersBad, others) + standing(c.Provisional) + "."
}

// lengthOnly reports whether g is the length of a text whose bad value or word
// the other side names: a by-product.
func lengthOnly(g evidence.Fact, others []evidence.Fact) bool {
	return (g.Kind == evidence.LengthMin || g.Kind == evidence.LengthMax) && slices.ContainsFunc(others, func(o evidence.Fact) bool {
		return o.Path == g.Path && (o.Kind == evidence.ValueIs || o.Kind == evidence.HasWord)
	})
}

// freeText is from how many words on, in the median, a parameter holds prose, a
// command or a query rather than a name.
const freeText = 4

// incidental reports whether a fact says more about what callers happened to ask
// than about how to call: a word or a character of a free text, or a value that
// names one thing, such as an id or a date.
func (f *findings) incidental(fact evidence.Fact) bool {
	switch fact.Kind {
	case evidence.HasWord, evidence.HasChar, evidence.NotASCII:
		for _, p := range f.evidence.Parameters {
			if p.Path == fact.Path {
				return p.MedianWords >= freeText
			}
		}
	case evidence.ValueIs:
		_, err := strconv.ParseFloat(fact.Value, 64)
		return err != nil && strings.ContainsAny(fact.Value, "0123456789")
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
