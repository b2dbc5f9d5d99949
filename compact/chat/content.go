package chat

import (
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
