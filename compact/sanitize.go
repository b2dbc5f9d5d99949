package compact

import (
	"strings"

	"memoryd/internal/textsafe"
)

// hidden stands where a secret was.
const hidden = "[secret]"

// sanitizer keeps secrets out of texts of ours where that is asked for, and foreign
// text from imitating our frame.
type sanitizer struct{ redact bool }

// value gives the text of a value that stands behind a label.
func (s sanitizer) value(label, value string) string {
	if s.redact && textsafe.SecretName(label) {
		return hidden
	}
	return s.text(value)
}

// text gives a text without secrets.
func (s sanitizer) text(text string) string {
	if !s.redact {
		return text
	}
	return textsafe.Mask(text)
}

// clean keeps a text from imitating our frame.
func (s sanitizer) clean(text string) string { return strings.ReplaceAll(text, frameOpen, "(memoryd ") }

// quotable drops the lines of tools that try to steer who reads them.
func quotable(lines []string) []string {
	var out []string
	for _, l := range lines {
		if _, steers := textsafe.SuspectInstruction(l); !steers {
			out = append(out, l)
		}
	}
	return out
}
