package llm

import (
	"errors"
	"strings"

	"memoryd"

	"github.com/sashabaranov/go-openai"
)

// The ways in which a complete reply holds no answer.
var (
	errNoChoices = errors.New("the reply has no choices")
	errEmpty     = errors.New("the answer is empty")
	errToolCall  = errors.New("the model called a tool instead of answering")
	errRefusal   = errors.New("the model refused")
	errFiltered  = errors.New("the answer was withheld by a content filter")
	errCutAnswer = errors.New("the answer was cut at its token limit")
)

// readReply makes a completion of the library's reply, or says what it lacks.
// An unknown finish reason passes: the caller checks the text anyway.
func readReply(r openai.ChatCompletionResponse) (memoryd.Completion, *fault) {
	done := memoryd.Completion{Model: r.Model, Usage: readUsage(r.Usage)}
	if len(r.Choices) == 0 {
		return done, newFault(badReply, "bad_reply", errNoChoices).temp().retried(1)
	}
	c := r.Choices[0]
	done.Text = textOfMessage(c.Message)
	switch {
	case strings.TrimSpace(c.Message.Refusal) != "":
		return done, newFault(final, "refused", errRefusal)
	case c.FinishReason == openai.FinishReasonContentFilter:
		return done, newFault(final, "filtered", errFiltered)
	case c.FinishReason == openai.FinishReasonLength:
		return done, newFault(cut, "bad_reply", errCutAnswer).retried(1)
	case strings.TrimSpace(done.Text) == "" && (len(c.Message.ToolCalls) > 0 || c.Message.FunctionCall != nil):
		return done, newFault(badReply, "bad_reply", errToolCall).retried(1)
	case strings.TrimSpace(done.Text) == "":
		return done, newFault(badReply, "bad_reply", errEmpty).temp().retried(1)
	}
	return done, nil
}

// textOfMessage is the message's text, also when it comes in parts.
func textOfMessage(m openai.ChatCompletionMessage) string {
	if len(m.MultiContent) == 0 {
		return m.Content
	}
	var b strings.Builder
	for _, part := range m.MultiContent {
		b.WriteString(part.Text)
	}
	return b.String()
}

// readUsage takes the server's count, but never a negative one.
func readUsage(u openai.Usage) memoryd.Usage {
	return memoryd.Usage{PromptTokens: max(0, u.PromptTokens), CompletionTokens: max(0, u.CompletionTokens)}
}
