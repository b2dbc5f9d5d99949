package evidence

import (
	"strings"
	"unicode"

	"memoryd/guidelines/constraints"
	"memoryd/internal/errortext"
	"memoryd/internal/textsafe"
)

const (
	sentenceWords = 6   // a first line of so many words is the beginning of the message
	nearBytes     = 600 // where the telling line follows within so many bytes
	lineWords     = 8   // a line of fewer words is shown with those that follow
	messageRunes  = 300
)

// messageOf is what the output of a call that went wrong says, on one line, from
// its beginning on: "" when there is no line that reads like a message. Which line
// tells is for internal/errortext to say.
func messageOf(output string) string {
	line := errortext.Message(output)
	if line == "" {
		return ""
	}
	text := constraints.Unwrap(output)
	if strings.HasPrefix(text, "Traceback ") {
		return line
	}
	at := strings.Index(text, textsafe.Head(line, 24))
	switch first, _, _ := strings.Cut(text, "\n"); {
	case at < 0:
		return line
	case at <= nearBytes && len(strings.Fields(first)) >= sentenceWords:
		at = 0
	}
	var words []string
	for l := range strings.Lines(text[at:min(len(text), at+4*messageRunes)]) {
		more := strings.Fields(l)
		if len(words) > 2 && (len(more) == 1 || strings.HasPrefix(l, "status: ")) {
			continue // a code beside the message
		}
		if words = append(words, more...); len(words) >= lineWords {
			break
		}
	}
	return textsafe.Line(strings.Join(words, " "), messageRunes)
}

// content is an output without white space and NUL characters around it.
func content(output string) string {
	return strings.TrimFunc(output, func(r rune) bool { return unicode.IsSpace(r) || r == 0 })
}
