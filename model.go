package memoryd

import (
	"context"
	"encoding/json"
	"time"
)

// Model answers prompts.
type Model interface {
	// Complete fails with a *ModelError where the server or its answer is at
	// fault.
	Complete(ctx context.Context, p Prompt) (Completion, error)
	// Name is what the model is called in answers and logs.
	Name() string
}

// Prompt is one request to a language model.
type Prompt struct {
	// System is the static part: instructions of ours only, never data.
	System string
	// User carries the data, delimited so that it cannot leave its block.
	User string
	// SchemaName and Schema ask for an answer that fits a JSON schema; nil asks
	// for free text.
	SchemaName string
	Schema     json.RawMessage
	// MaxTokens caps the answer; 0 leaves it to the server.
	MaxTokens int
	// Workspace is on whose behalf the request is made, for fair queuing.
	Workspace string
	// Tool is on which tool's behalf, for the ledger; may be empty.
	Tool string
}

// Completion is a model's answer.
type Completion struct {
	Text string
	// Model is the name that the server says answered.
	Model string
	Usage Usage
}

// Usage counts the tokens of one request, as the server reported them.
type Usage struct {
	PromptTokens     int
	CompletionTokens int
}

// ModelError is a model request that failed. Temporary failures are worth
// another try after RetryAfter; others are final for the request or for the
// whole endpoint.
type ModelError struct {
	// Reason is a short stable word: "rate_limited", "timeout", "refused",
	// "filtered", "too_long", "credentials", "quota", "unknown_model",
	// "bad_reply", "server", "network", "rejected", "budget".
	Reason string
	// Temporary says that the same request may succeed later.
	Temporary bool
	// RetryAfter is the wait that the server named; 0 means none.
	RetryAfter time.Duration
	Err        error
}

// Error gives the reason and the cause.
func (e *ModelError) Error() string {
	if e.Err == nil {
		return "model: " + e.Reason
	}
	return "model: " + e.Reason + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *ModelError) Unwrap() error { return e.Err }
