package benchmark

import (
	"strings"
	"unicode"

	"memoryd"
)

// How much of a call a disagreement shows, in characters.
const (
	showName = 80
	showText = 200
)

func disagreement(source string, e *entry, c *memoryd.Call, sure bool) Disagreement {
	d := Disagreement{
		Source: source, Line: e.line, Tool: excerpt(c.Tool, showName), Gold: e.Gold.String(), Score: noScore,
		JudgedBy: excerpt(c.Evaluation.JudgedBy, showName), Rule: excerpt(c.Evaluation.Rule, showName), Sure: sure,
		Summary: excerpt(c.Evaluation.Summary, showText),
		Input:   excerpt(string(c.Input), showText), Output: excerpt(c.Output, showText),
	}
	if c.Evaluation.State == memoryd.Judged {
		d.Score = LevelOf(c.Evaluation.Score).score()
	} else {
		d.Summary = excerpt(c.Evaluation.LastError, showText)
	}
	return d
}

// excerpt is the beginning of a recorded text as one line of at most n
// characters, without anything that a terminal would obey or not show.
func excerpt(s string, n int) string {
	if most := 8 * n; len(s) > most { // enough for n characters, white space left out
		s = s[:most]
	}
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs):
			return -1
		}
		return r
	}, s)
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n]) + "…"
	}
	return s
}
