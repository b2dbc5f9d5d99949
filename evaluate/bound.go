package evaluate

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memoryd"
	"memoryd/evaluate/rules"
	"memoryd/internal/textsafe"
)

// factsOf finds the bound that also holds for what a person says of a kind: what the
// caller or the call itself reports, and texts that address their judge.
func factsOf(c *memoryd.Call, addressed bool, v rules.Result) bound {
	switch {
	case v.Fact && v.Score < memoryd.ScoreSuccess:
		return bound{v.Score, "the call itself reports it", false}
	case !c.Success:
		return bound{memoryd.ScorePartial, "the caller reported a failure", false}
	case addressed:
		return bound{memoryd.ScorePartial, "the call's text addresses its judge", true}
	}
	return bound{ceiling: memoryd.ScoreSuccess}
}

// bound is what the server knows of a call for a fact, whatever a model says.
type bound struct {
	// ceiling is the highest score that the call can have.
	ceiling float64
	// reason says why there is a ceiling; "" when there is none.
	reason string
	// alone means that the rules decide and no model is asked.
	alone bool
}

// boundOf finds the bound of a call that the rules rated v and whose text addresses its judge,
// or does not. The package comment lists the cases.
func boundOf(c *memoryd.Call, addressed bool, v rules.Result) bound {
	switch {
	case addressed:
		ceiling := memoryd.ScorePartial
		if v.Sure {
			ceiling = v.Score
		}
		return bound{ceiling, "the call's text addresses the judge", true}
	case rules.IsBlank(strings.TrimSpace(c.Output)):
		return bound{v.Score, "the output is empty", true}
	case v.Sure && v.Score < memoryd.ScoreSuccess:
		return bound{v.Score, "the rules are sure", false}
	case !v.Sure && saysNothing(c.Output):
		return bound{memoryd.ScorePartial, "the output says almost nothing", true}
	case !c.Success:
		return bound{memoryd.ScorePartial, "the caller reported a failure", false}
	}
	return bound{ceiling: memoryd.ScoreSuccess}
}

// apply gives the model's evaluation if it stays within the bound, else the
// rules' one, brought within it.
func (b bound) apply(model, ruled memoryd.Evaluation) (e memoryd.Evaluation, bounded bool) {
	if model.Score <= b.ceiling {
		return model, false
	}
	e = b.lower(ruled)
	e.Evaluation = textsafe.Line(e.Evaluation+" A model's higher score was reduced: "+b.reason+".", maxEvaluation)
	return e, true
}

// lower brings the rules' own evaluation within the bound.
func (b bound) lower(ruled memoryd.Evaluation) memoryd.Evaluation {
	if ruled.Score > b.ceiling {
		ruled.Score = b.ceiling
		ruled.Evaluation = textsafe.Line(ruled.Evaluation+" The score is limited: "+b.reason+".", maxEvaluation)
	}
	return ruled
}

// saysNothing reports outputs that models are known to reward although they say
// nothing: punctuation alone, and the opening phrases that "One Token to Fool
// LLM-as-a-Judge" (arXiv 2507.08794) calls master keys.
func saysNothing(output string) bool {
	s := strings.TrimSpace(output)
	if len(s) > 200 { // a page of dashes or zero bytes is something
		return false
	}
	switch strings.ToLower(strings.TrimFunc(s, func(r rune) bool { return !unicode.In(r, unicode.Letter, unicode.Digit) })) {
	case "", "thought process", "solution", "answer", "final answer", "reasoning", "explanation", "output", "response", "result",
		"let's solve this problem step by step", "let’s solve this problem step by step", "let's think step by step",
		"solución", "lösung", "解", "解答", "答案", "かいせつ":
		return true
	}
	return false
}

// sign is how text speaks to the judge. Each text of its form holds one of the words, which are
// looked for first: that is a hundred times as fast.
type sign struct {
	words []string
	form  *regexp.Regexp
}

func (s *sign) in(text string) bool {
	return slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(text, word) }) && s.form.MatchString(text)
}

// The signs. One alone is common in honest text; see addressesJudge.
var (
	signOverride = sign{
		[]string{"ignore", "disregard", "forget", "override", "bypass"},
		regexp.MustCompile(`\b(?:ignore|disregard|forget|override|bypass)\b(?:\W+\w+){0,4}?\W+(?:above|previous|prior|preceding|earlier|before|instructions?|rules?|guidelines?|criteria|prompt)\b`),
	}
	signNaming = sign{
		[]string{"evaluator", "judge", "grader", "reviewer", "language model", "llm", "ai model", " ai", "assistant", "system "},
		regexp.MustCompile(`\b(?:evaluator|judge|grader|reviewer|language model|llm|ai (?:model|assistant)|assistant)s?\b ?[:,!]|` +
			`\b(?:dear|note to|attention|message to|instructions? (?:to|for)|as) (?:an? |the |all )?(?:evaluator|judge|grader|reviewer|llm|ai)\b|` +
			`\bsystem (?:note|message|prompt|override|update)\b|\byou are (?:an?|the|now) (?:\w+ )?(?:judge|evaluator|grader)\b`),
	}
	signScore = sign{
		[]string{"score", "rate", "rating", "grade", "mark", "evaluat", "judge", "call "},
		regexp.MustCompile(`\b(?:scored?|scores|rate|rated|rating|grade|graded|mark|evaluate|evaluation|judge)\b(?:\W+\w+){0,6}?\W+(?:1\.0|0\.5|0\.0|[01]|10/10|100|full|maximum|perfect|highest|lowest|success(?:ful)?|fail(?:ed|ure)?)\b|` +
			`\b(?:assign|give|return|award|set)\b(?:\W+\w+){0,6}?\W+(?:scores?|ratings?|grade|marks?)\b|` +
			`\bcall (?:was|is|should be|must be)(?: \w+){0,3}? (?:perfect|successful|a success|flawless|correct)\b`),
	}
	signForged = sign{[]string{`"score"`}, regexp.MustCompile(`"score" ?: ?"?(?:0|1|0\.5|0\.0|1\.0)\b`)}
	signFields = sign{[]string{`"failed_checks"`, `"evaluation"`, `"verdicts"`}, regexp.MustCompile(`"(?:failed_checks|evaluation|verdicts)" ?:`)}
	signMarks  = sign{[]string{"<<<"}, regexp.MustCompile(`(?:^|[^<])<<<(?:data|end) \w+>>>`)}
)

// addressesJudge reports text that tries to set its own evaluation: an order about
// scores together with an address or a call to forget the rules, a forged answer
// in our own format, or our own marks. It looks at what the model would see. It
// is a hint that spares a model call, not the defence: that is the bound, the
// closed schema and the envelope, which hold for text that no pattern knows.
func addressesJudge(b brief) bool {
	in, _ := b.Input.MarshalJSON()
	return textAddressesJudge(string(in)) || textAddressesJudge(b.Output.Head+"\n"+b.Output.Tail)
}

func textAddressesJudge(s string) bool {
	s = strings.ToLower(textsafe.Visible(s))
	return slices.ContainsFunc(addresses[:], func(signs []*sign) bool {
		return !slices.ContainsFunc(signs, func(sign *sign) bool { return !sign.in(s) })
	})
}

// addresses are the signs that, all of one row together, show that a text speaks to the judge.
var addresses = [...][]*sign{
	{&signOverride, &signScore},
	{&signNaming, &signScore},
	{&signForged, &signFields},
	{&signMarks},
}
