package chat

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ErrSyntax says that a message is not JSON at all.
var ErrSyntax = errors.New("not valid JSON")

// Parse reads one message. Only text that is not JSON is an error; whatever else
// is odd makes the message poorer in meaning, never in bytes.
func Parse(raw []byte) (Message, error) {
	v := jsontext.Value(raw)
	m := Message{Raw: v}
	var w wire
	if v.Kind() != '{' || json.Unmarshal(v, &w, lenient()...) != nil {
		if !v.IsValid(lenient()...) {
			return m, ErrSyntax
		}
		return m, nil
	}
	m.Role = str(w.Role)
	if m.Role == "" && m.item(&w) {
		return m, nil
	}
	m.Kind = kindOf(m.Role)
	m.content(w.Content)
	m.fields(&w)
	if len(m.Results) > 0 && m.Kind == User {
		m.Kind = Result
	}
	return m, nil
}

// ParseAll reads a list of messages.
func ParseAll(raws []jsontext.Value) ([]Message, error) {
	ms := make([]Message, len(raws))
	for i, raw := range raws {
		m, err := Parse(raw)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i, err)
		}
		ms[i] = m
	}
	return ms, nil
}

func lenient() []json.Options {
	return []json.Options{jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)}
}

func kindOf(role string) Kind {
	switch role {
	case "system", "developer":
		return System
	case "user":
		return User
	case "assistant":
		return Assistant
	case "tool", "function":
		return Result
	}
	return Opaque
}

// wire is the union of the known fields. All are read as raw values, so that a
// field of an unexpected type spoils nothing else.
type wire struct {
	Role             jsontext.Value `json:"role"`
	Content          jsontext.Value `json:"content"`
	Name             jsontext.Value `json:"name"`
	Refusal          jsontext.Value `json:"refusal"`
	ToolCalls        jsontext.Value `json:"tool_calls"`
	FunctionCall     jsontext.Value `json:"function_call"`
	ToolCallID       jsontext.Value `json:"tool_call_id"`
	ReasoningContent jsontext.Value `json:"reasoning_content"`
	Reasoning        jsontext.Value `json:"reasoning"`
	Audio            jsontext.Value `json:"audio"`
	Memoryd          jsontext.Value `json:"memoryd"`
	// Members of the Responses API's items.
	Type      jsontext.Value `json:"type"`
	CallID    jsontext.Value `json:"call_id"`
	Arguments jsontext.Value `json:"arguments"`
	Input     jsontext.Value `json:"input"`
	Output    jsontext.Value `json:"output"`
	Summary   jsontext.Value `json:"summary"`
}

// item reads an item of the Responses API that is not a message. Calls and their
// outputs are items of their own, as is the reasoning before them.
func (m *Message) item(w *wire) bool {
	switch str(w.Type) {
	case "function_call", "custom_tool_call":
		m.Kind, m.Role = Assistant, "assistant"
		call := Call{ID: str(w.CallID), Name: str(w.Name), Args: strOrJSON(w.Arguments), at: path{"arguments"}}
		if len(w.Arguments) == 0 {
			call.Args, call.at = strOrJSON(w.Input), path{"input"}
		}
		m.Calls = []Call{call}
	case "function_call_output", "custom_tool_call_output":
		m.Kind, m.Role = Result, "tool"
		inner := Message{}
		inner.content(w.Output)
		m.Media = inner.Media
		m.Results = []Output{{ID: str(w.CallID), Text: inner.Text(), Plain: w.Output.Kind() == '"', at: path{"output"}}}
	case "reasoning":
		m.Kind, m.Role = Assistant, "assistant"
		inner := Message{}
		inner.content(w.Summary)
		m.Reasoning = append(inner.Texts, inner.Other...)
		if len(m.Reasoning) == 0 {
			m.Reasoning = []string{string(m.Raw)}
		}
	default:
		return false
	}
	m.Item = true
	return true
}

// fields reads everything beside the content.
func (m *Message) fields(w *wire) {
	if s := str(w.Refusal); s != "" {
		m.Texts = append(m.Texts, s)
	}
	for _, v := range []jsontext.Value{w.ReasoningContent, w.Reasoning} {
		if s := str(v); s != "" {
			m.Reasoning = append(m.Reasoning, s)
		}
	}
	if w.Audio.Kind() == '{' {
		m.Media++
	}
	var mark struct {
		Pin bool `json:"pin"`
	}
	if w.Memoryd.Kind() == '{' && json.Unmarshal(w.Memoryd, &mark, lenient()...) == nil {
		m.Pinned = mark.Pin
	}
	switch {
	case m.Kind == Assistant:
		m.toolCalls(w)
	case m.Role == "tool" || m.Role == "function":
		m.resultFields(w)
	}
}

func (m *Message) toolCalls(w *wire) {
	m.hasFields = len(w.ToolCalls) > 0 || len(w.FunctionCall) > 0
	var calls []struct {
		ID       jsontext.Value `json:"id"`
		Function struct {
			Name      jsontext.Value `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
		Custom struct {
			Name  jsontext.Value `json:"name"`
			Input jsontext.Value `json:"input"`
		} `json:"custom"`
	}
	if w.ToolCalls.Kind() == '[' && json.Unmarshal(w.ToolCalls, &calls, lenient()...) == nil {
		for i, c := range calls {
			call := Call{
				ID: str(c.ID), Name: str(c.Function.Name), Args: strOrJSON(c.Function.Arguments),
				at: path{"tool_calls", i, "function", "arguments"},
			}
			if call.Name == "" && len(c.Custom.Name) > 0 {
				call.Name, call.Args, call.at = str(c.Custom.Name), strOrJSON(c.Custom.Input), path{"tool_calls", i, "custom", "input"}
			}
			m.Calls = append(m.Calls, call)
		}
	} else if w.ToolCalls.Kind() == '[' {
		m.Other = append(m.Other, string(w.ToolCalls))
	}
	var legacy struct {
		Name      jsontext.Value `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	}
	if w.FunctionCall.Kind() == '{' && json.Unmarshal(w.FunctionCall, &legacy, lenient()...) == nil {
		m.Calls = append(m.Calls, Call{
			Name: str(legacy.Name), Args: strOrJSON(legacy.Arguments), Legacy: true, at: path{"function_call", "arguments"},
		})
	}
}

// resultFields turns the content of a tool message into its one result.
func (m *Message) resultFields(w *wire) {
	out := Output{
		ID: str(w.ToolCallID), Name: str(w.Name), Legacy: m.Role == "function", Text: m.Text(),
		Plain: m.Media == 0 && len(m.Other) == 0, at: path{"content"},
	}
	m.Texts = nil
	m.Results = append(m.Results, out)
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
