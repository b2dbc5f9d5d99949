package compact

import (
	"strings"

	"memoryd/compact/chat"
	"memoryd/internal/textsafe"
)

// sanitizer keeps secrets out of texts of ours, and foreign text from imitating our
// frame.
type sanitizer struct {
	mask func(text string) string
}

// messages masks what was read of messages, before it is cut into parts that do not
// show a secret any more. The messages themselves, which are kept, stay.
func (s sanitizer) messages(ms []chat.Message) {
	for i := range ms {
		m := &ms[i]
		for _, list := range [][]string{m.Texts, m.Reasoning, m.Other} {
			for k := range list {
				list[k] = s.mask(list[k])
			}
		}
		for k := range m.Calls {
			m.Calls[k].Args = s.mask(m.Calls[k].Args)
		}
		for k := range m.Results {
			m.Results[k].Text = s.mask(m.Results[k].Text)
		}
	}
}

// value gives the text of a value that stands behind a label.
func (s sanitizer) value(label, value string) string {
	if textsafe.SecretName(label) {
		return textsafe.Masked
	}
	return s.mask(value)
}

// clean keeps a text from imitating our frame.
func (s sanitizer) clean(text string) string { return strings.ReplaceAll(text, frameOpen, "(memoryd ") }
