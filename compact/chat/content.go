package chat

import (
	"strings"

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
		m.Texts, m.textAt = append(m.Texts, str(v)), path{"content"}
	case '[':
		for i, part := range elements(v) {
			m.part(i, part)
		}
	case '{':
		m.Other = append(m.Other, string(v))
	}
}

func (m *Message) part(i int, v jsontext.Value) {
	var b block
	if v.Kind() == '"' {
		m.Texts = append(m.Texts, str(v))
		return
	}
	if v.Kind() != '{' || json.Unmarshal(v, &b, lenient()...) != nil {
		m.Other = append(m.Other, string(v))
		return
	}
	switch str(b.Type) {
	case "text", "input_text", "output_text", "summary_text":
		m.Texts, m.textAt = append(m.Texts, str(b.Text)), path{"content", i, "text"}
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
		m.Calls = append(m.Calls, Call{ID: str(b.ID), Name: str(b.Name), Args: strOrJSON(b.Input), at: path{"content", i, "input"}})
	case "tool_result":
		m.Blocks = true
		m.Results = append(m.Results, m.resultBlock(i, b))
	default:
		m.Other = append(m.Other, string(v))
	}
}

// resultBlock reads a tool_result block, whose content is a string or parts.
func (m *Message) resultBlock(i int, b block) Output {
	inner := Message{}
	inner.content(b.Content)
	m.Media += inner.Media
	out := Output{ID: str(b.ToolUseID), Text: inner.Text(), at: path{"content", i, "content"}}
	out.Plain = inner.Media == 0 && len(inner.Other) == 0 && len(inner.Calls)+len(inner.Results) == 0
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
