package chat

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// block is the union of the known content parts of both styles.
type block struct {
	Type      jsontext.Value `json:"type"`
	Text      jsontext.Value `json:"text"`
	Refusal   jsontext.Value `json:"refusal"`
	Thinking  jsontext.Value `json:"thinking"`
	Data      jsontext.Value `json:"data"`
	ID        jsontext.Value `json:"id"`
	Name      jsontext.Value `json:"name"`
	Input     jsontext.Value `json:"input"`
	ToolUseID jsontext.Value `json:"tool_use_id"`
	Content   jsontext.Value `json:"content"`
}

// content reads the content field: null, a string, or a list of parts.
func (m *Message) content(v jsontext.Value) {
	switch v.Kind() {
	case '"':
		m.Texts = append(m.Texts, str(v))
	case '[':
		for _, part := range elements(v) {
			m.part(part)
		}
	case '{':
		m.Other = append(m.Other, string(v))
	}
}

// blockOf reads a part of a content; of what is no block nothing is known.
func blockOf(v jsontext.Value) (b block) {
	if !object(v, &b) {
		return block{}
	}
	return b
}

func (m *Message) part(v jsontext.Value) {
	var b block
	if v.Kind() == '"' {
		m.Texts = append(m.Texts, str(v))
		return
	}
	if !object(v, &b) {
		m.Other = append(m.Other, string(v))
		return
	}
	switch str(b.Type) {
	case "text", "input_text", "output_text", "summary_text":
		m.Texts = append(m.Texts, str(b.Text))
	case "refusal":
		m.Texts = append(m.Texts, str(b.Refusal))
	case "thinking":
		m.Reasoning = append(m.Reasoning, str(b.Thinking))
	case "redacted_thinking":
		m.Reasoning = append(m.Reasoning, str(b.Data))
	case "image_url", "image", "input_image", "input_audio", "audio", "file", "document", "video_url":
		m.Media++
	case "tool_use":
		m.Blocks = true
		m.Calls = append(m.Calls, Call{ID: str(b.ID), Name: str(b.Name), Args: strOrJSON(b.Input)})
	case "tool_result":
		m.Blocks = true
		m.Results = append(m.Results, m.resultBlock(b))
	default:
		m.Other = append(m.Other, string(v))
	}
}

// resultBlock reads a tool_result block, whose content is a string or parts.
func (m *Message) resultBlock(b block) Output {
	inner := Message{}
	inner.content(b.Content)
	m.Media += inner.Media
	out := Output{ID: str(b.ToolUseID), Text: inner.Text()}
	if len(inner.Other) > 0 {
		out.Text = strings.TrimSpace(out.Text + "\n" + strings.Join(inner.Other, "\n"))
	}
	return out
}

// elements splits a JSON array.
func elements(v jsontext.Value) []jsontext.Value {
	var vs []jsontext.Value
	if json.Unmarshal(v, &vs, lenient()...) != nil {
		return nil
	}
	return vs
}

func lenient() []json.Options {
	return []json.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
}

// str gives the text of a JSON string, and "" for anything else.
func str(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	if bytes.IndexByte(v, '\\') < 0 && utf8.Valid(v) { // it stands there as it is
		return string(bytes.TrimSpace(v)[1 : len(bytes.TrimSpace(v))-1])
	}
	b, err := jsontext.AppendUnquote(make([]byte, 0, len(v)), v)
	if err != nil && len(b) == 0 {
		return ""
	}
	return string(b)
}

// strOrJSON gives the text of a string, and the JSON of anything else.
func strOrJSON(v jsontext.Value) string {
	if v.Kind() == '"' {
		return str(v)
	}
	return string(v)
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

// contentAt finds the bytes of the content. Of several members of that name it takes the
// last, as JSON readers do.
func (m *Message) contentAt() (at span, ok bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(m.Raw), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := dec.ReadToken(); err != nil {
		return at, false
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			break
		}
		is := name.String() == "content"
		v, err := dec.ReadValue()
		if err != nil {
			break
		}
		if is {
			end := int(dec.InputOffset())
			at, ok = span{end - len(v), end}, true
		}
	}
	return at, ok
}

// quote writes text as a JSON string; invalid bytes become U+FFFD.
func quote(text string) []byte {
	b, _ := jsontext.AppendQuote(nil, text) // an error says only that bytes were replaced
	return b
}

// WithPart returns the message with one more text, after its own text or before it, but never
// before the results of tools. If list is true, the text becomes a part of its own; otherwise
// a message that is one string stays one. It returns false if the message has no content in a
// known form.
func (m *Message) WithPart(text string, after, list bool) (Message, bool) {
	at, ok := m.contentAt()
	if !ok {
		return *m, false
	}
	old := m.Raw[at.from:at.to]
	switch old.Kind() {
	case '"':
		if s := str(old); !list && after {
			return m.spliced(at, quote(s+"\n\n"+text))
		} else if !list {
			return m.spliced(at, quote(text+"\n\n"+s))
		}
	case '[':
	default:
		return *m, false
	}
	return m.withParts(at, insertPart(parts(old), textPart(old, text), after))
}

// insertPart puts a part last, or before the first that is no result of a tool.
func insertPart(all []jsontext.Value, part jsontext.Value, after bool) []jsontext.Value {
	n := len(all)
	for i := 0; !after && i < n; i++ {
		if str(blockOf(all[i]).Type) != "tool_result" {
			n = i
		}
	}
	return slices.Insert(slices.Clone(all), n, part)
}

// textPart writes a text part of the type that the others of a content have.
func textPart(content jsontext.Value, text string) jsontext.Value {
	kind := "text"
	for _, p := range parts(content) {
		if own := str(blockOf(p).Type); strings.HasSuffix(own, "put_text") {
			kind = own
			break
		}
	}
	return append(append([]byte(`{"type":"`+kind+`","text":`), quote(text)...), '}')
}

// parts lists the parts of a content; a string is one, a blank one none.
func parts(content jsontext.Value) []jsontext.Value {
	if content.Kind() != '"' {
		return elements(content)
	}
	if strings.TrimSpace(str(content)) == "" {
		return nil
	}
	return []jsontext.Value{append(append([]byte(`{"type":"text","text":`), content...), '}')}
}

func (m *Message) withParts(at span, all []jsontext.Value) (Message, bool) {
	value := []byte{'['}
	for i, p := range all {
		if i > 0 {
			value = append(value, ',')
		}
		value = append(value, p...)
	}
	return m.spliced(at, append(value, ']'))
}

// Joined returns one message with the content of both, for formats in which speakers must
// take turns. It returns false if a message has more than its content.
func (m *Message) Joined(next *Message) (Message, bool) {
	a, ok := m.contentAt()
	b, ok2 := next.contentAt()
	if !ok || !ok2 || m.Role != next.Role || m.hasFields || next.hasFields {
		return *m, false
	}
	x, y := m.Raw[a.from:a.to], next.Raw[b.from:b.to]
	for _, v := range []jsontext.Value{x, y} {
		if v.Kind() != '"' && v.Kind() != '[' {
			return *m, false
		}
	}
	if len(m.Results) == 0 && len(next.Results) > 0 {
		return *m, false // results come first
	}
	return m.withParts(a, append(slices.Clone(parts(x)), parts(y)...))
}

// Without returns the message without a text that WithPart added. It returns false if the
// message has no other text, or if the text is not found.
func (m *Message) Without(text string) (Message, bool) {
	at, ok := m.contentAt()
	if !ok {
		return *m, false
	}
	old := m.Raw[at.from:at.to]
	if old.Kind() == '"' {
		s, found := strings.CutSuffix(str(old), "\n\n"+text)
		if !found {
			return *m, false
		}
		return m.spliced(at, quote(s))
	}
	var rest []jsontext.Value
	all := parts(old)
	for _, p := range all {
		if str(blockOf(p).Text) != text {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 || len(rest) == len(all) {
		return *m, false
	}
	return m.withParts(at, rest)
}
