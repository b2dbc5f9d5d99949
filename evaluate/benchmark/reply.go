package benchmark

import (
	"errors"

	"memoryd"
)

// reply is one line of a file of replies: what a model answered about a call, or
// how it failed.
type reply struct {
	// Key is that of the question, and Instructions a hash of the rest of the
	// request. Batch says that the request was about several calls.
	Key          string `json:"key"`
	Instructions string `json:"instructions"`
	Batch        bool   `json:"batch,omitempty"`
	// Model is the name asked for, Answered the one that the server named.
	Model            string `json:"model"`
	Answered         string `json:"answered,omitempty"`
	Text             string `json:"text,omitempty"`
	PromptTokens     int    `json:"prompt_tokens,omitempty"`
	CompletionTokens int    `json:"completion_tokens,omitempty"`
	// Reason and Temporary are those of a memoryd.ModelError.
	Reason    string `json:"error,omitempty"`
	Temporary bool   `json:"temporary,omitempty"`
}

// repliesTo is what a request came to, as lines: one for each call if it was
// about several and all were answered in good form, else one. There is none
// where the failure is not the model's doing.
func repliesTo(p memoryd.Prompt, model string, c memoryd.Completion, err error) []reply {
	q := questionOf(p)
	r := reply{
		Key: q.key, Instructions: q.instructions, Batch: len(q.calls) > 1, Model: model, Answered: c.Model, Text: c.Text,
		PromptTokens: c.Usage.PromptTokens, CompletionTokens: c.Usage.CompletionTokens,
	}
	if err != nil {
		failed, ok := errors.AsType[*memoryd.ModelError](err)
		if !ok {
			return nil
		}
		r.Reason, r.Temporary = failed.Reason, failed.Temporary
		return []reply{r}
	}
	if parts := split(q.calls, r); parts != nil {
		return parts
	}
	return []reply{r}
}

// again gives the reply as the model gave it.
func (r reply) again() (memoryd.Completion, error) {
	c := memoryd.Completion{
		Text: r.Text, Model: r.Answered,
		Usage: memoryd.Usage{PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens},
	}
	if r.Reason != "" {
		return c, &memoryd.ModelError{Reason: r.Reason, Temporary: r.Temporary, Err: errors.New("as recorded")}
	}
	return c, nil
}
