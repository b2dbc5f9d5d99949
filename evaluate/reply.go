package evaluate

import (
	"errors"
	"fmt"
	"iter"
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

// readReply reads the one evaluation in a reply, and reports whether the reply was anything but
// JSON with a score as it was asked for. It refuses rather than guesses: two scores, a score
// on another scale, or the data block's nonce in the answer are errors.
func readReply(text, nonce string) (v answer, mended bool, err error) {
	switch {
	case len(text) > maxReply:
		return answer{}, false, errTooLongReply
	case !utf8.ValidString(text):
		return answer{}, false, errNotText
	case nonce != "" && strings.Contains(text, nonce):
		return answer{}, false, errEcho
	}
	asSent := strings.TrimSpace(text)
	text = withoutThinking(strings.TrimPrefix(asSent, "\uFEFF"))
	found, mended, err := answersIn(text)
	if err != nil {
		return answer{}, false, err
	}
	for i, one := range found {
		w, exact, err := readAnswer(one)
		switch {
		case err != nil && i == 0:
			return answer{}, false, err
		case i == 0:
			v = w
		case err != nil, w.score != v.score:
			return answer{}, false, errAmbiguous
		}
		mended = mended || !exact
	}
	return v, mended || len(text) != len(asSent), nil
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

// answersIn finds the objects in text that hold a score, themselves or in a member; mended is
// false where the text is one object of JSON with a score.
func answersIn(text string) (found []object, mended bool, err error) {
	tried := 0
	for i := 0; ; {
		n := strings.IndexByte(text[i:], '{')
		if n < 0 {
			break
		}
		start := i + n
		if tried++; tried > maxCandidates {
			return nil, false, errNoScoreFound
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
		mended = mended || d.Mended || d.Cut || start > 0 || strings.TrimSpace(text[end:]) != ""
		i = end
	}
	if len(found) == 0 {
		return nil, false, errNoScoreFound
	}
	return found, mended, nil
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

// readAnswer reads an object that has a score; exact is false where that is none of the three
// numbers.
func readAnswer(obj object) (v answer, exact bool, err error) {
	seen := false
	for i, n := range obj.members() {
		if !isScoreName(n.Key) {
			continue
		}
		level, isExact, err := levelOf(obj.doc, i)
		if err != nil {
			return answer{}, false, err
		}
		if seen && level != v.score {
			return answer{}, false, errTwoScores
		}
		v.score, seen, exact = level, true, isExact
	}
	v.summary = said(obj.text("summary"), maxSummary)
	v.evaluation = said(obj.text("evaluation"), maxEvaluation)
	v.failedChecks = knownChecks(obj)
	if v.summary == "" {
		v.summary = said(firstSentence(v.evaluation), maxSummary)
	}
	return v, exact, nil
}

// said is a text of the model as a verdict shows it.
func said(text string, limit int) string {
	text, _ = origin.Show(origin.Verdict, origin.Model, text, limit)
	return text
}

func isScoreName(name string) bool {
	name, _ = loosejson.Unquote(name, maxReply)
	return strings.EqualFold(name, "score")
}

// text is the first string of that name.
func (o object) text(name string) string {
	for i, n := range o.members() {
		if n.Kind == loosejson.String && strings.EqualFold(n.Key, name) {
			return o.doc.Str(i)
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

// knownChecks reads an answer's failed_checks. Names that are not ours are dropped.
func knownChecks(obj object) (failed []string) {
	for i, n := range obj.members() {
		if !strings.EqualFold(n.Key, "failed_checks") || n.Kind != loosejson.Array {
			continue
		}
		for c := range (object{obj.doc, i}).members() {
			name := strings.ToLower(obj.doc.Str(c))
			if slices.Contains(checkNames(), name) && !slices.Contains(failed, name) {
				failed = append(failed, name)
			}
		}
	}
	return failed
}
