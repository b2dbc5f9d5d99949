package chat

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// path leads to a value inside a message: names and indices.
type path []any

// WithOutput gives the message with the text of result i replaced. All other
// bytes stay. It reports false when the result cannot be replaced.
func (m *Message) WithOutput(i int, text string) (Message, bool) {
	if i >= len(m.Results) || !m.Results[i].Plain {
		return *m, false
	}
	at := m.Results[i].at
	old, ok := locate(m.Raw, at)
	if !ok {
		return *m, false
	}
	value := quote(text)
	if m.Raw[old.from] == '[' { // parts were sent, parts are returned
		value = append(append([]byte(`[{"type":"text","text":`), value...), `}]`...)
	}
	return m.spliced(old, value)
}

// WithText gives the message with its one text replaced. It reports false when
// the message has none or several.
func (m *Message) WithText(text string) (Message, bool) {
	if len(m.Texts) != 1 || m.textAt == nil {
		return *m, false
	}
	old, ok := locate(m.Raw, m.textAt)
	if !ok || m.Raw[old.from] != '"' {
		return *m, false
	}
	return m.spliced(old, quote(text))
}

// WithArgs gives the message with the arguments of call i replaced by args, a
// JSON value. Arguments that were sent as text stay text.
func (m *Message) WithArgs(i int, args []byte) (Message, bool) {
	if i >= len(m.Calls) {
		return *m, false
	}
	old, ok := locate(m.Raw, m.Calls[i].at)
	if !ok {
		return *m, false
	}
	value := args
	if m.Raw[old.from] == '"' {
		value = quote(string(args))
	}
	return m.spliced(old, value)
}

type span struct{ from, to int }

func (m *Message) spliced(old span, value []byte) (Message, bool) {
	raw := make([]byte, 0, len(m.Raw)-(old.to-old.from)+len(value))
	raw = append(raw, m.Raw[:old.from]...)
	raw = append(raw, value...)
	raw = append(raw, m.Raw[old.to:]...)
	out, err := Parse(raw)
	if err != nil {
		return *m, false
	}
	out.Pinned = m.Pinned
	return out, true
}

// locate finds the bytes of the value at p. Of several members with one name it
// takes the last, as JSON readers do.
func locate(raw []byte, p path) (span, bool) {
	at := span{0, len(raw)}
	for _, step := range p {
		next, ok := child(raw[at.from:at.to], step)
		if !ok {
			return span{}, false
		}
		at = span{at.from + next.from, at.from + next.to}
	}
	return at, true
}

func child(raw []byte, step any) (span, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	open, err := dec.ReadToken()
	if err != nil {
		return span{}, false
	}
	var found span
	ok := false
	for i := 0; ; i++ {
		k := dec.PeekKind()
		if k == '}' || k == ']' || k == 0 {
			return found, ok
		}
		hit := step == any(i) && open.Kind() == '['
		if open.Kind() == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return found, ok
			}
			hit = step == any(name.String())
		}
		v, err := dec.ReadValue()
		if err != nil {
			return found, ok
		}
		if hit {
			end := int(dec.InputOffset())
			found, ok = span{end - len(v), end}, true
		}
	}
}

// quote writes text as a JSON string; invalid bytes become U+FFFD.
func quote(text string) []byte {
	b, _ := jsontext.AppendQuote(nil, text) // an error says only that bytes were replaced
	return b
}
