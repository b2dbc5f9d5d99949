package rules

import (
	"strings"

	"memoryd"
	"memoryd/internal/textsafe"
)

// Caps on texts of an evaluation, in characters.
const (
	maxSummary    = 160
	maxEvaluation = 400
	maxQuote      = 110
)

// finding is what a rule found.
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

func (f finding) bad() bool { return f.score == memoryd.ScoreFailure }

// summaryOf is one line that says what happened.
func summaryOf(v *view, f finding) string {
	head := "Succeeded"
	switch f.score {
	case memoryd.ScoreFailure:
		head = "Failed" + f.cause.bracket()
	case memoryd.ScorePartial:
		head = "Partly succeeded" + f.cause.bracket()
	}
	what := textsafe.Line(f.quote, maxQuote)
	if what == "" {
		what = f.why
	}
	if f.score == memoryd.ScoreSuccess {
		what = v.describe()
	}
	return textsafe.Line(head+": "+what, maxSummary)
}

// evaluationOf says which rule decided and why, on the two dimensions: did the
// call succeed, did its parameters fit.
func evaluationOf(v *view, f finding) string {
	q := textsafe.Line(f.quote, maxQuote)
	var b strings.Builder
	b.Grow(160 + len(f.why) + len(q))
	b.WriteString("Success: ")
	switch f.score {
	case memoryd.ScoreFailure:
		b.WriteString("no, ")
	case memoryd.ScorePartial:
		b.WriteString("in part, ")
	default:
		b.WriteString("yes, ")
	}
	b.WriteString(f.why)
	if q != "" {
		b.WriteString(" (“" + q + "”)")
	}
	b.WriteString(". Parameters: " + v.parameters(f) + ".")
	b.WriteString(" Rule: " + f.rule)
	if !f.sure {
		b.WriteString(", not certain")
	}
	b.WriteString(".")
	return textsafe.Line(b.String(), maxEvaluation)
}

// parameters says how the call's parameters fitted, as far as f tells.
func (v *view) parameters(f finding) string {
	if f.score == memoryd.ScoreSuccess {
		return "nothing in the output speaks against them"
	}
	return f.cause.parameters()
}
