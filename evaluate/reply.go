package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"memoryd/internal/loosejson"
	"memoryd/internal/origin"
)

// Caps on what an evaluation may say, in characters.
const (
	maxSummary    = 200
	maxEvaluation = 1000
)

// maxReply bounds the answer that is read at all, in bytes. An honest evaluation
// has a few hundred.
const maxReply = 32 << 10

// The repairs of the list of repairs, as Stats.Repaired counts them. An answer can
// need several.
const (
	repairThink = "think" // thinking aloud before the answer
	repairFence = "fence" // a Markdown code block around it
	repairProse = "prose" // other text around it
	repairLoose = "loose" // not quite JSON: commas, quotes, comments
	repairCut   = "cut"   // it stops in the middle, the score is there
	repairShape = "shape" // the evaluation was wrapped, or its score under another name
	repairLabel = "label" // no object, a label such as "Score: 0.5"
	repairScale = "scale" // the score was on another scale
)

// Ways in which a reply cannot be used. Their texts go back to the model when it
// is asked again, so they hold nothing of its reply.
var (
	errTooLongReply = errors.New("the answer is far too long")
	errNotText      = errors.New("the answer is not valid UTF-8")
	errNoScoreFound = errors.New("the answer holds no verdict")
	errAmbiguous    = errors.New("the answer holds more than one score")
	errEcho         = errors.New("the answer repeats the data block's mark")
)

// evaluation is what a model said of one call.
type answer struct {
	score               float64
	summary, evaluation string
	failedChecks        []string
}

// repairs is the set of repairs that a reply needed.
type repairs []string

func (r *repairs) add(name string, when bool) {
	if when && !slices.Contains(*r, name) {
		*r = append(*r, name)
	}
}

// readReply reads the one evaluation in a reply. It climbs the list of repairs only
// as far as it must, and refuses rather than guesses: two scores, a score on no
// known scale, or the data block's nonce in the answer are errors.
func readReply(text, nonce string) (answer, repairs, error) {
	var used repairs
	text, err := admit(text, nonce, &used)
	if err != nil {
		return answer{}, nil, err
	}
	found, err := answersIn(text, &used)
	if err != nil {
		return answer{}, used, err
	}
	if len(found) == 0 {
		return readLabel(text, used)
	}
	v, err := readAnswer(found[0], &used)
	if err != nil {
		return answer{}, used, err
	}
	for _, other := range found[1:] {
		if w, err := readAnswer(other, &used); err != nil || w.score != v.score {
			return answer{}, used, errAmbiguous
		}
	}
	return v, used, nil
}

// admit refuses what must not be read at all and takes thinking aloud away.
func admit(text, nonce string, used *repairs) (string, error) {
	switch {
	case len(text) > maxReply:
		return "", errTooLongReply
	case !utf8.ValidString(text):
		return "", errNotText
	case nonce != "" && strings.Contains(text, nonce):
		return "", errEcho
	}
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "\uFEFF"))
	rest := strings.TrimSpace(withoutThinking(text))
	used.add(repairThink, rest != text)
	inner, encoded := decodedTwice(rest)
	used.add(repairLoose, encoded)
	return inner, nil
}

// decodedTwice undoes the encoding of an answer that came as a JSON string, with
// or without its quotes.
func decodedTwice(s string) (string, bool) {
	var inner string
	switch {
	case strings.HasPrefix(s, `"{`), strings.HasPrefix(s, `"[`):
	case strings.HasPrefix(s, `{\"`):
		s = `"` + s + `"`
	default:
		return s, false
	}
	if json.Unmarshal([]byte(s), &inner) != nil {
		return s, false
	}
	return strings.TrimSpace(inner), true
}

// withoutThinking drops what a model thought aloud: everything up to the last
// closing tag, and everything from an opening tag that is never closed. A reply
// that is an object from its first character on has none.
func withoutThinking(s string) string {
	if strings.HasPrefix(s, "{") {
		return s
	}
	for _, tag := range []string{"think", "thinking", "thought", "reasoning"} {
		if i := strings.LastIndex(s, "</"+tag+">"); i >= 0 {
			s = s[i+len(tag)+3:]
		}
		if i := strings.Index(s, "<"+tag+">"); i >= 0 {
			s = s[:i]
		}
	}
	return s
}

// maxCandidates bounds how many braces are tried as the start of an object.
const maxCandidates = 64

// verdictsIn finds the objects in text that hold a score, themselves or in a
// member.
func answersIn(text string, used *repairs) ([]object, error) {
	var found []object
	tried := 0
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		start := i + n
		if tried++; tried > maxCandidates {
			return nil, errNoScoreFound
		}
		d, end, ok := loosejson.ReadReply(text, start)
		holders := scoreHolders(object{d, 0}, 0)
		if !ok || len(holders) == 0 {
			i = start + 1
			if ok && !d.Cut {
				i = end // an object about something else
			}
			continue
		}
		found = append(found, holders...)
		used.add(repairLoose, d.Mended)
		used.add(repairCut, d.Cut)
		used.add(repairShape, len(holders) > 1 || object{d, 0}.member("score") == nil)
		around := strings.TrimSpace(text[:start]) + strings.TrimSpace(text[end:])
		fenced := strings.Contains(around, "```")
		used.add(repairFence, fenced)
		used.add(repairProse, strings.Trim(strings.TrimPrefix(strings.ReplaceAll(around, "`", ""), "json"), " \n") != "" && !fenced)
		i = end
	}
	return found, nil
}

// object is a value in a reply, with the members or elements of an object or an
// array.
type object struct {
	doc *loosejson.Doc
	at  int32
}

// members yields the members that the end of the reply did not cut off.
func (o object) members() iter.Seq2[int32, *loosejson.Node] {
	return func(yield func(int32, *loosejson.Node) bool) {
		for i := o.doc.Child(o.at); i != 0; i = o.doc.Nodes[i].Next {
			n := &o.doc.Nodes[i]
			if n.Cut && n.Kind != loosejson.String {
				continue
			}
			if !yield(i, n) {
				return
			}
		}
	}
}

// member is the first member of that name in lower case, nil for none.
func (o object) member(name string) *loosejson.Node {
	for _, n := range o.members() {
		if n.Key == name {
			return n
		}
	}
	return nil
}

// scoreHolders gives o itself if it has a score, else the objects inside it that
// do.
func scoreHolders(o object, depth int) []object {
	if depth > 3 {
		return nil
	}
	var found []object
	for i, n := range o.members() {
		if isScoreName(n.Key) {
			return []object{o}
		}
		found = append(found, scoreHolders(object{o.doc, i}, depth+1)...)
	}
	return found
}

// readVerdict reads an object that has a score.
func readAnswer(obj object, used *repairs) (answer, error) {
	var v answer
	seen := false
	for i, n := range obj.members() {
		if !isScoreName(n.Key) {
			continue
		}
		level, exact, err := levelOf(obj.doc, i)
		if err != nil {
			return answer{}, err
		}
		if seen && level != v.score {
			return answer{}, errTwoScores
		}
		v.score, seen = level, true
		used.add(repairScale, !exact)
		used.add(repairShape, n.Kind != loosejson.Number)
	}
	v.summary = said(obj.text("summary"), maxSummary)
	v.evaluation = said(obj.text("evaluation", "reason", "explanation", "rationale"), maxEvaluation)
	v.failedChecks = knownChecks(obj)
	if v.summary == "" {
		v.summary = said(firstSentence(v.evaluation), maxSummary)
	}
	return v, nil
}

// said is a text of the model as a verdict shows it.
func said(text string, limit int) string {
	text, _ = origin.Show(origin.Verdict, origin.Model, text, limit)
	return text
}

func isScoreName(name string) bool {
	name, _ = loosejson.Unquote(name, maxReply)
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "score", "rating", "final_score", "overall_score":
		return true
	}
	return false
}

// text is the first string among the named members.
func (o object) text(names ...string) string {
	for _, name := range names {
		for i, n := range o.members() {
			if n.Kind == loosejson.String && strings.EqualFold(strings.TrimSpace(n.Key), name) {
				return o.doc.Str(i)
			}
		}
	}
	return ""
}

// wantSingle is what the model is told when its answer could not be used.
func wantSingle(err error) string {
	return fmt.Sprintf("Your previous answer could not be used: %v. "+
		"Answer with exactly one JSON object that fits the schema, and nothing else.", err)
}

// firstSentence is s up to its first full stop.
func firstSentence(s string) string {
	if i := strings.Index(s, ". "); i >= 0 {
		return s[:i+1]
	}
	return s
}

const labelWords = `(?:partial(?:ly)?[ _-]success(?:ful)?|partial|mixed|unsuccessful|success(?:ful)?|succeeded|pass(?:ed)?|fail(?:ure|ed)?)\b`

var (
	label = regexp.MustCompile(`(?i)\b(?:final |overall )?(?:score|rating)\b["'*_` + "`" +
		`\s]*(?:is\b|of\b|[:=>]|->|→)[\s"'*_` + "`" + `(\[]*` +
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
	v := answer{evaluation: said(text, maxEvaluation)}
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
	v.summary = said(firstSentence(v.evaluation), maxSummary)
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

// checkNames are the ten binary checks of a call, after the judge of "Towards
// Robust Tool Use in Agents via Experience-Driven Adaptive Guidance" (ExpG,
// arXiv 2608.03403): two of the use, four of the input, four of the response. A
// model answers with the names of those that a call fails, which become the
// evaluation's FailedChecks.
func checkNames() []string {
	return []string{
		"tool_needed", "right_tool",
		"required_inputs", "valid_inputs", "input_format", "inputs_fit_context",
		"useful_response", "response_fits_tool", "response_fits_input", "advances_task",
	}
}

// knownChecks reads an answer's failed_checks. Names that are not ours are
// dropped; an object of name and 0 or false, as some models write, counts too.
func knownChecks(obj object) []string {
	var failed []string
	add := func(name string) {
		name = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(checkNames(), name) && !slices.Contains(failed, name) {
			failed = append(failed, name)
		}
	}
	for i, n := range obj.members() {
		key := strings.ToLower(n.Key)
		for c, v := range (object{obj.doc, i}).members() {
			switch {
			case key == "failed_checks" && n.Kind == loosejson.Array:
				add(obj.doc.Str(c))
			case strings.HasSuffix(key, "checks") && slices.Contains([]string{"0", "false"}, v.Val):
				add(v.Key)
			}
		}
	}
	return failed
}
