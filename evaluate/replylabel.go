package evaluate

import (
	"regexp"
	"strings"

	"memoryd/internal/loosejson"
	"memoryd/internal/textsafe"
)

const labelWords = `(?:partial(?:ly)?[ _-]success(?:ful)?|partial|mixed|unsuccessful|success(?:ful)?|succeeded|pass(?:ed)?|fail(?:ure|ed)?)\b`

var (
	label = regexp.MustCompile(`(?i)\b(?:final |overall )?(?:score|rating)\b["'*_` + "`" + `\s]*(?:is\b|of\b|[:=>]|->|→)[\s"'*_` + "`" + `(\[]*` +
		`([+-]?[0-9]*[.,]?[0-9]+(?:\s*(?:/|out of)\s*[0-9]+|\s*%)?|` + labelWords + `)(?:[^\w.,/%]|[.,]\D|[.,]?$)`)
	levelTokens = regexp.MustCompile(`\b(?:0\.5|[01](?:\.0)?)\b`)
)

// readLabel reads a reply without an object: one level or word by itself (but no
// number of another scale, which could be anything), or a
// text that names the score once ("Score: 0.5"). A text that lists all three
// levels explains the scale; it is not read as an answer. Neither is one with a
// brace in it: that is an object that could not be read.
func readLabel(text string, used repairs) (answer, repairs, error) {
	used.add(repairLabel, true)
	bare := strings.TrimRight(strings.Trim(text, "*_`\"' #\n\t"), ".")
	if level, exact, err := levelOfText(bare); err == nil && (exact || !loosejson.IsNumber(bare)) {
		used.add(repairScale, !exact)
		return answer{score: level}, used, nil
	}
	matches := label.FindAllStringSubmatch(text, -1)
	if len(matches) == 0 || explainsScale(text) || strings.Contains(text, "{") {
		return answer{}, used, errNoScoreFound
	}
	v := answer{evaluation: textsafe.Line(text, maxEvaluation)}
	for i, m := range matches {
		level, exact, err := levelOfText(m[1])
		if err != nil {
			return answer{}, used, err
		}
		if i > 0 && level != v.score {
			return answer{}, used, errAmbiguous
		}
		v.score = level
		used.add(repairScale, !exact)
	}
	v.summary = textsafe.Line(firstSentence(v.evaluation), maxSummary)
	return v, used, nil
}

func explainsScale(text string) bool {
	seen := map[byte]bool{}
	for _, t := range levelTokens.FindAllString(text, -1) {
		if t == "0.5" {
			seen['h'] = true
		} else {
			seen[t[0]] = true
		}
	}
	return len(seen) == 3
}
