// Package chat models a conversation with a language model so that it can be
// cut without breaking it. It reads OpenAI chat messages (text, several parts,
// parallel tool calls, legacy function calls, reasoning fields), the items of
// OpenAI's Responses API, and messages made of Anthropic-style content blocks,
// and keeps every message byte for byte: what it does not understand is simply
// still there.
//
// A Unit is what may be removed at once: one message, or an assistant message
// with every result of its calls. Check says what a strict provider would refuse.
package chat

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Kind sorts messages by who speaks.
type Kind uint8

// The kinds. Opaque is a message whose role nobody knows, or which is not an
// object: it is kept as it is.
const (
	Opaque Kind = iota
	System      // roles "system" and "developer"
	User
	Assistant
	Result // roles "tool" and "function", or a user message with tool_result blocks
)

// Message is one message: its bytes, and what could be read from them.
type Message struct {
	// Raw is the message as it was sent.
	Raw  jsontext.Value
	Kind Kind
	Role string
	// Texts are the readable texts in order: what a person or the model wrote.
	// The text of tool results is in Results.
	Texts []string
	// Reasoning are texts of thinking blocks and reasoning fields.
	Reasoning []string
	Calls     []Call
	Results   []Output
	// Media counts images, audio and files, wherever they stand.
	Media int
	// Other holds parts that nobody knows, as JSON; they count as text.
	Other []string
	// Blocks says that tool calls or results stand in content blocks, in the
	// style of Anthropic.
	Blocks bool
	// textAt is where the last of Texts stands.
	textAt path
	// Pinned is the message's own mark: "memoryd": {"pin": true}.
	Pinned bool
	// Item says that the message is an item of OpenAI's Responses API that is
	// not a chat message: a call, the output of one, or reasoning.
	Item bool
	// hasFields says that calls stand beside the content.
	hasFields bool
}

// Call is one tool call of an assistant message.
type Call struct {
	ID, Name string
	// Args is the JSON text of the arguments.
	Args string
	// Legacy marks a function_call, which has no id.
	Legacy bool
	// at is where the arguments stand in the message.
	at path
}

// Output is one tool result.
type Output struct {
	ID, Name, Text string
	Legacy         bool
	// Plain says that the result is text only, so that it can be replaced.
	Plain bool
	at    path
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
