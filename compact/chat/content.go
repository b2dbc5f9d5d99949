package chat

import (
	"slices"
	"strings"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// content reads the content field: null, a string, or a list of parts.
func (m *Message) content(v jsontext.Value) {
	switch v.Kind() {
	case '"':
		m.Texts = append(m.Texts, loosejson.Text(v))
	case '[':
		for _, part := range loosejson.Elements(v) {
			m.part(part)
		}
	case '{':
		m.Other = append(m.Other, string(v))
	}
}

func (m *Message) part(v jsontext.Value) {
	if v.Kind() == '"' {
		m.Texts = append(m.Texts, loosejson.Text(v))
		return
	}
	b := loosejson.MembersOf(v)
	if b == nil {
		m.Other = append(m.Other, string(v))
		return
	}
	switch loosejson.Text(b["type"]) {
	case "text", "input_text", "output_text", "summary_text":
		m.Texts = append(m.Texts, loosejson.Text(b["text"]))
	case "refusal":
		m.Texts = append(m.Texts, loosejson.Text(b["refusal"]))
	case "thinking":
		m.Reasoning = append(m.Reasoning, loosejson.Text(b["thinking"]))
	case "redacted_thinking":
		m.Reasoning = append(m.Reasoning, loosejson.Text(b["data"]))
	case "image_url", "image", "input_image", "input_audio", "audio", "file", "document", "video_url":
		m.Media++
	case "tool_use":
		m.Blocks = true
		m.Calls = append(m.Calls, Call{ID: b.Text("id"), Name: b.Text("name"), Args: strOrJSON(b["input"])})
	case "tool_result":
		m.Blocks = true
		m.Results = append(m.Results, m.resultBlock(b))
	default:
		m.Other = append(m.Other, string(v))
	}
}

// resultBlock reads a tool_result block, whose content is a string or parts.
func (m *Message) resultBlock(b loosejson.Members) Output {
	inner := Message{}
	inner.content(b["content"])
	m.Media += inner.Media
	out := Output{ID: b.Text("tool_use_id"), Text: inner.Text()}
	if len(inner.Other) > 0 {
		out.Text = strings.TrimSpace(out.Text + "\n" + strings.Join(inner.Other, "\n"))
	}
	return out
}

// strOrJSON gives the text of a string, and the JSON of anything else.
func strOrJSON(v jsontext.Value) string {
	if v.Kind() == '"' {
		return loosejson.Text(v)
	}
	return string(v)
}

type span struct{ from, to int }

func (m *Message) spliced(old span, value jsontext.Value) (Message, bool) {
	out, err := Parse(slices.Concat(m.Raw[:old.from], value, m.Raw[old.to:]))
	if err != nil {
		return *m, false
	}
	out.Pinned = m.Pinned
	return out, true
}

// contentAt finds the bytes of the content.
func (m *Message) contentAt() (at span, ok bool) {
	at.from, at.to, ok = loosejson.Place(m.Raw, "content")
	return at, ok
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
		if s := loosejson.Text(old); !list && after {
			return m.spliced(at, loosejson.Quote(s+"\n\n"+text))
		} else if !list {
			return m.spliced(at, loosejson.Quote(text+"\n\n"+s))
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
		if loosejson.Text(loosejson.MembersOf(all[i])["type"]) != "tool_result" {
			n = i
		}
	}
	return slices.Insert(slices.Clone(all), n, part)
}

// textPart writes a text part of the type that the others of a content have.
func textPart(content jsontext.Value, text string) jsontext.Value {
	kind := "text"
	for _, p := range parts(content) {
		if own := loosejson.Text(loosejson.MembersOf(p)["type"]); strings.HasSuffix(own, "put_text") {
			kind = own
			break
		}
	}
	return append(append([]byte(`{"type":"`+kind+`","text":`), loosejson.Quote(text)...), '}')
}

// parts lists the parts of a content; a string is one, a blank one none.
func parts(content jsontext.Value) []jsontext.Value {
	if content.Kind() != '"' {
		return loosejson.Elements(content)
	}
	if strings.TrimSpace(loosejson.Text(content)) == "" {
		return nil
	}
	return []jsontext.Value{append(append([]byte(`{"type":"text","text":`), content...), '}')}
}

func (m *Message) withParts(at span, all []jsontext.Value) (Message, bool) {
	return m.spliced(at, loosejson.Join(all))
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
		s, found := strings.CutSuffix(loosejson.Text(old), "\n\n"+text)
		if !found {
			return *m, false
		}
		return m.spliced(at, loosejson.Quote(s))
	}
	var rest []jsontext.Value
	all := parts(old)
	for _, p := range all {
		if loosejson.Text(loosejson.MembersOf(p)["text"]) != text {
			rest = append(rest, p)
		}
	}
	if len(rest) == 0 || len(rest) == len(all) {
		return *m, false
	}
	return m.withParts(at, rest)
}
