package memoryd

import (
	"context"
	"encoding/json"
	"time"
)

// Model is a language model.
type Model interface {
	// Complete returns a *ModelError if the server or its answer is at fault.
	Complete(ctx context.Context, p Prompt) (Completion, error)
	// Name returns the name of the model for answers and logs.
	Name() string
}

// Prompt is a request to a language model.
type Prompt struct {
	// System holds our own instructions, never data.
	System string
	// User holds the data, delimited so that it cannot leave its block.
	User string
	// SchemaName and Schema request an answer that matches a JSON schema; nil requests free text.
	SchemaName string
	Schema     json.RawMessage
	// MaxTokens limits the answer; 0 leaves the limit to the server.
	MaxTokens int
	// Workspace is the workspace that the request is made for; it decides the request's place
	// in the queue.
	Workspace string
	// Tool is the tool that the request is made for, for the ledger; it may be empty.
	Tool string
}

// Completion is a model's answer.
type Completion struct {
	Text string
	// Model is the name of the model according to the server.
	Model string
	Usage Usage
}

// Usage is the number of tokens of a request, as reported by the server.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// ModelError is a failed model request. Retry temporary failures after RetryAfter; other failures
// are final for the request or the whole endpoint.
type ModelError struct {
	// Reason is a stable word: "rate_limited", "timeout", "refused", "filtered", "too_long",
	// "credentials", "quota", "unknown_model", "bad_reply", "server", "network", "rejected",
	// "budget".
	Reason string
	// Temporary reports that the same request may succeed later.
	Temporary bool
	// RetryAfter is the wait that the server asked for; 0 means none.
	RetryAfter time.Duration
	Err        error
}

// Error returns the reason and the cause.
func (e *ModelError) Error() string {
	if e.Err == nil {
		return "model: " + e.Reason
	}
	return "model: " + e.Reason + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }
