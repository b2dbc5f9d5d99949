package evidence

import (
	"strings"
	"unicode"

	"memoryd/internal/errortext"
)

// messageOf finds the error message in the output of a call that went wrong, on
// one line: "" when there is no line that reads like one.
func messageOf(output string) string { return errortext.Message(output) }

// content is an output without white space and NUL characters around it.
func content(output string) string {
	return strings.TrimFunc(output, func(r rune) bool { return unicode.IsSpace(r) || r == 0 })
}
