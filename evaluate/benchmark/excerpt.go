package benchmark

import (
	"memoryd"
	"memoryd/internal/textsafe"
)

// How much of a call a disagreement shows, in characters.
const (
	showName = 80
	showText = 200
)

func disagreement(source string, e *entry, c *memoryd.Call, sure bool) Disagreement {
	d := Disagreement{
		Source: source, Line: e.line, Tool: textsafe.Line(c.Tool, showName), Gold: e.Gold.String(), Score: noScore,
		JudgedBy: textsafe.Line(c.Evaluation.JudgedBy, showName), Rule: textsafe.Line(c.Evaluation.Rule, showName), Sure: sure,
		Summary: textsafe.Line(c.Evaluation.Summary, showText),
		Input:   textsafe.Line(string(c.Input), showText), Output: textsafe.Line(c.Output, showText),
	}
	if c.Evaluation.State == memoryd.Judged {
		d.Score = LevelOf(c.Evaluation.Score).score()
	} else {
		d.Summary = textsafe.Line(c.Evaluation.LastError, showText)
	}
	return d
}
