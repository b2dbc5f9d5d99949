// Package chat models a conversation with a language model so that it can be cut without
// breaking it. It reads OpenAI chat messages (text, several parts, parallel tool calls,
// legacy function calls, reasoning fields), items of OpenAI's Responses API, and messages
// with Anthropic-style content blocks. It keeps every message byte for byte, including what
// it does not understand.
//
// A Unit is what can be removed at once: one message, or an assistant message with every
// result of its calls. Check lists what a strict provider would reject.
package chat

import (
	"errors"
	"fmt"
	"strings"

	"memoryd/internal/loosejson"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind is the kind of a message, by its speaker.
type Kind uint8

// The kinds. An Opaque message has an unknown role, or is not an object; it is kept as it is.
const (
	Opaque Kind = iota
	System      // roles "system" and "developer"
	User
	Assistant
	Result // roles "tool" and "function", or a user message with tool_result blocks
)

// Message is one message: its bytes, and what was read from them.
type Message struct {
	// Raw is the message as it was sent.
	Raw  jsontext.Value
	Kind Kind
	Role string
	// Texts are the readable texts in order, as a person or the model wrote them. The text of
	// tool results is in Results.
	Texts []string
	// Reasoning are texts of thinking blocks and reasoning fields.
	Reasoning []string
	Calls     []Call
	Results   []Output
	// Media counts images, audio and files anywhere in the message.
	Media int
	// Other holds parts of unknown types, as JSON; they count as text.
	Other []string
	// Blocks reports that tool calls or results are in content blocks, in the style of
	// Anthropic.
	Blocks bool
	// Pinned is the message's own mark: "memoryd": {"pin": true}.
	Pinned bool
	// Item reports that the message is an item of OpenAI's Responses API other than a chat
	// message: a call, its output, or reasoning.
	Item bool
	// hasFields says that calls stand beside the content.
	hasFields bool
}

// Fixed reports a message that stays as it is and where it is: instructions, and what nobody
// understands.
func (m *Message) Fixed() bool { return m.Kind == System || m.Kind == Opaque }

// Call is one tool call of an assistant message.
type Call struct {
	ID, Name string
	// Args is the JSON text of the arguments.
	Args string
	// Legacy marks a function_call, which has no id.
	Legacy bool
}

// Output is one tool result.
type Output struct {
	ID, Name, Text string
	Legacy         bool
}

// Text is the readable text of the message without tool results.
func (m *Message) Text() string {
	if len(m.Texts) == 1 {
		return m.Texts[0]
	}
	return strings.Join(m.Texts, "\n")
}

// FromUser reports whether a person wrote in this message.
func (m *Message) FromUser() bool {
	return m.Role == "user" && (strings.TrimSpace(m.Text()) != "" || m.Media > 0 && len(m.Results) == 0)
}

// reasoningOnly reports whether the message is an assistant's thinking alone.
func (m *Message) reasoningOnly() bool {
	return m.Kind == Assistant && len(m.Reasoning) > 0 && len(m.Calls) == 0 && strings.TrimSpace(m.Text()) == ""
}

// errSyntax means that a message is not JSON.
var errSyntax = errors.New("not valid JSON")

// Parse reads one message. It fails only if the text is not JSON. Anything else unusual loses
// meaning, but no bytes.
func Parse(raw []byte) (Message, error) {
	v := jsontext.Value(raw)
	m := Message{Raw: v}
	w := loosejson.MembersOf(v)
	if w == nil {
		if !v.IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) {
			return m, errSyntax
		}
		return m, nil
	}
	m.Role = loosejson.Text(w["role"])
	if m.Role == "" && m.item(w) {
		return m, nil
	}
	m.Kind = kindOf(m.Role)
	m.content(w["content"])
	m.fields(w)
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

// item reads an item of the Responses API that is not a message. Calls and their
// outputs are items of their own, as is the reasoning before them.
func (m *Message) item(w loosejson.Members) bool {
	switch loosejson.Text(w["type"]) {
	case "function_call", "custom_tool_call":
		m.Kind, m.Role = Assistant, "assistant"
		m.Calls = []Call{{ID: w.Text("call_id"), Name: w.Text("name"), Args: strOrJSON(w.At("arguments|input"))}}
	case "function_call_output", "custom_tool_call_output":
		m.Kind, m.Role = Result, "tool"
		inner := Message{}
		inner.content(w["output"])
		m.Media = inner.Media
		m.Results = []Output{{ID: w.Text("call_id"), Text: inner.Text()}}
	case "reasoning":
		m.Kind, m.Role = Assistant, "assistant"
		inner := Message{}
		inner.content(w["summary"])
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
func (m *Message) fields(w loosejson.Members) {
	if s := loosejson.Text(w["refusal"]); s != "" {
		m.Texts = append(m.Texts, s)
	}
	for _, v := range []jsontext.Value{w["reasoning_content"], w["reasoning"]} {
		if s := loosejson.Text(v); s != "" {
			m.Reasoning = append(m.Reasoning, s)
		}
	}
	if w["audio"].Kind() == '{' {
		m.Media++
	}
	m.Pinned = string(loosejson.MembersOf(w["memoryd"])["pin"]) == "true"
	switch {
	case m.Kind == Assistant:
		m.toolCalls(w)
	case m.Role == "tool" || m.Role == "function":
		m.resultFields(w)
	}
}

func (m *Message) toolCalls(w loosejson.Members) {
	m.hasFields = len(w["tool_calls"]) > 0 || len(w["function_call"]) > 0
	for _, v := range loosejson.Elements(w["tool_calls"]) {
		c := loosejson.MembersOf(v)
		if c == nil {
			m.Other = append(m.Other, string(v))
			continue
		}
		m.Calls = append(m.Calls, Call{
			ID: c.Text("id"), Name: c.Text("function.name|custom.name"), Args: strOrJSON(c.At("function.arguments|custom.input")),
		})
	}
	if legacy := loosejson.MembersOf(w["function_call"]); legacy != nil {
		m.Calls = append(m.Calls, Call{Name: legacy.Text("name"), Args: strOrJSON(legacy["arguments"]), Legacy: true})
	}
}

// resultFields turns the content of a tool message into its one result.
func (m *Message) resultFields(w loosejson.Members) {
	m.Results = append(m.Results, Output{
		ID: w.Text("tool_call_id"), Name: w.Text("name"), Legacy: m.Role == "function", Text: m.Text(),
	})
	m.Texts = nil
}
