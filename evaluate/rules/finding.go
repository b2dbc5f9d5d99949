package rules

import (
	"strings"

	"memoryd"
	"memoryd/internal/origin"
	"memoryd/internal/textsafe"
)

// Caps on texts of an evaluation, in characters.
const (
	maxSummary    = 160
	maxEvaluation = 400
	maxQuote      = 110
)

// finding is what a rule found; it has no name where that is nothing.
type finding struct {
	rule  string
	score float64
	sure  bool
	quote string // the decisive fragment, raw
	why   string // a clause that says why, without a stop
	cause cause
}

// fails, half and works make findings of the three levels.
func fails(rule, quote, why string) finding {
	return finding{rule: rule, score: memoryd.ScoreFailure, sure: true, quote: quote, why: why, cause: causeOf(quote)}
}

func half(rule, quote, why string) finding {
	return finding{rule: rule, score: memoryd.ScorePartial, quote: quote, why: why, cause: causeOf(quote)}
}

func works(rule, why string) finding {
	return finding{rule: rule, score: memoryd.ScoreSuccess, sure: true, why: why}
}

// unsure takes the certainty from a finding.
func (f finding) unsure() finding {
	f.sure = false
	return f
}

// doubted makes a failure half of one, for a reason.
func (f finding) doubted(why string) finding {
	f.score, f.sure, f.why = memoryd.ScorePartial, false, f.why+why
	return f
}

// found reports whether a rule found anything, bad that it was a failure.
func (f finding) found() bool { return f.rule != "" }
func (f finding) bad() bool   { return f.found() && f.score == memoryd.ScoreFailure }

// summaryOf is one line that says what happened.
func summaryOf(v *view, f finding, said string) string {
	if f.score == memoryd.ScoreSuccess {
		return Outcome(f.score) + ": " + v.describe()
	}
	what := f.why
	if said != "" {
		what = quoted(said)
	}
	return textsafe.Line(Outcome(f.score)+f.cause.bracket()+": "+what, maxSummary)
}

// said is the quote on a line; after a heading ("ERROR:") comes what it heads.
func (f finding) said(v *view) string {
	if q := strings.TrimSpace(f.quote); strings.HasSuffix(q, ":") && len(strings.Fields(q)) < 3 {
		if _, rest, more := strings.Cut(v.call.Output, q); more {
			return textsafe.Line(q+" "+textsafe.Head(strings.TrimSpace(rest), 4*maxQuote), maxQuote)
		}
	}
	return textsafe.Line(f.quote, maxQuote)
}

// quoted marks words of the tool.
func quoted(s string) string {
	s, _ = origin.Show(origin.Verdict, origin.Message, s, maxQuote)
	return s
}

// Outcome names the level of a score.
func Outcome(score float64) string {
	switch score {
	case memoryd.ScoreFailure:
		return "Failed"
	case memoryd.ScorePartial:
		return "Partly succeeded"
	}
	return "Succeeded"
}

// evaluationOf says in one plain sentence how the call went and what shows it; of a
// failure also what the parameters had to do with it, where that is known.
func evaluationOf(v *view, f finding, said string) string {
	outcome := Outcome(f.score)
	if !f.sure && f.score != memoryd.ScorePartial {
		outcome = "Probably " + strings.ToLower(outcome)
	}
	means := causes[f.cause].parameters
	if means != "" {
		means = "; " + means
	}
	switch {
	case f.rule == "no-trouble":
		return outcome + ": " + v.describe() + "."
	case f.score == memoryd.ScoreSuccess:
		return textsafe.Line(outcome+": "+v.describe()+" ("+f.why+").", maxEvaluation)
	case said == "":
		return textsafe.Line(outcome+": "+f.why+means+".", maxEvaluation)
	}
	return textsafe.Line(outcome+": "+quoted(strings.TrimSuffix(said, "."))+" ("+f.why+")"+means+".", maxEvaluation)
}
