package llmtest

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Request is one request as the server understood it.
type Request struct {
	N      int // 1 for the first request to the server; counts refused ones
	Time   time.Time
	Method string
	Path   string
	Header http.Header
	Body   []byte

	Model    string
	Messages []Message
	System   string // the system messages, joined by newlines
	User     string // the user messages, joined by newlines
	Format   string // response_format.type; "" if there is none
	Schema   json.RawMessage
	Strict   bool
	// Temperature is nil if the request gives none.
	Temperature *float64
	// MaxTokens is max_tokens, MaxCompletionTokens the newer field; 0 if absent.
	MaxTokens           int
	MaxCompletionTokens int
	Stream              bool
	// PromptTokens is the server's count: one token per four bytes of text.
	PromptTokens int
}

// Message is one message of a prompt.
type Message struct {
	Role    string
	Content string
}

// wireRequest is the part of the protocol that the server reads.
type wireRequest struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string `json:"role"`
		Content any    `json:"content"`
	} `json:"messages"`
	ResponseFormat *struct {
		Type       string `json:"type"`
		JSONSchema *struct {
			Schema json.RawMessage `json:"schema"`
			Strict bool            `json:"strict"`
		} `json:"json_schema"`
	} `json:"response_format"`
	Temperature         *float64 `json:"temperature"`
	MaxTokens           int      `json:"max_tokens"`
	MaxCompletionTokens int      `json:"max_completion_tokens"`
	Stream              bool     `json:"stream"`
}

// parse fills in what the body says; false when it is not a request for text.
func (r *Request) parse() bool {
	var w wireRequest
	if json.Unmarshal(r.Body, &w) != nil || w.Model == "" {
		return false
	}
	if len(w.Messages) == 0 {
		return false
	}
	r.Model, r.Temperature, r.Stream = w.Model, w.Temperature, w.Stream
	r.MaxTokens, r.MaxCompletionTokens = w.MaxTokens, w.MaxCompletionTokens
	if f := w.ResponseFormat; f != nil {
		r.Format = f.Type
		if f.JSONSchema != nil {
			r.Schema, r.Strict = f.JSONSchema.Schema, f.JSONSchema.Strict
		}
	}
	var system, user []string
	size := 0
	for _, m := range w.Messages {
		text, _ := m.Content.(string)
		r.Messages = append(r.Messages, Message{Role: m.Role, Content: text})
		size += len(text)
		switch m.Role {
		case "system", "developer":
			system = append(system, text)
		case "user":
			user = append(user, text)
		}
	}
	r.System, r.User = strings.Join(system, "\n"), strings.Join(user, "\n")
	r.PromptTokens = tokens(size)
	return true
}

// tokens is the server's way of counting: four bytes a token, rounded up.
func tokens(bytes int) int { return (bytes + 3) / 4 }
