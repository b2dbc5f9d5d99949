package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Handler answers a request. Many goroutines call it at once.
type Handler func(Request) Reply

// Reply is the server's reaction to one request. The zero Reply is a good answer with an
// empty text. The functions of this package make common replies; use the fields for others.
type Reply struct {
	// Status is the HTTP status; 0 means 200.
	Status int
	Header http.Header
	// Text is the answer, put into a chat completion.
	Text string
	// Finish is the finish reason; "" means "stop", "-" means none.
	Finish string
	// Refusal fills the refusal field of the message. Model is the model in the reply; ""
	// means the requested one.
	Refusal string
	Model   string
	// AnswerTokens is the token count of the answer; 0 means one token per four bytes.
	// NoUsage omits the usage.
	AnswerTokens int
	NoUsage      bool
	// Body, if not nil, is sent as it is instead of a chat completion.
	Body []byte
	// Delay is the wait before the first byte.
	Delay time.Duration

	end  ending
	drip time.Duration // between two bytes
}

// ending is how a reply ends.
type ending int

const (
	complete ending = iota
	reset           // the connection is reset before the first byte
	cutBody         // the connection is reset in the middle of the body
	hang            // nothing ever comes
	endless         // the body is repeated for ever
)

// After returns the same reply, d later.
func (r Reply) After(d time.Duration) Reply {
	r.Delay += d
	return r
}

// With returns the same reply with one more header.
func (r Reply) With(name, value string) Reply {
	h := r.Header.Clone()
	if h == nil {
		h = http.Header{}
	}
	h.Set(name, value)
	r.Header = h
	return r
}

// Always answers every request with the same reply.
func Always(r Reply) Handler { return func(Request) Reply { return r } }

// Script answers the first request with the first reply, and so on. The last reply answers
// all further ones. Requests that a limit refuses do not count.
func Script(replies ...Reply) Handler {
	next := make(chan Reply, len(replies))
	for _, r := range replies {
		next <- r
	}
	last := replies[len(replies)-1]
	return func(Request) Reply {
		select {
		case r := <-next:
			return r
		default:
			return last
		}
	}
}

// answerTokens is the server's count of the answer.
func (r Reply) answerTokens() int {
	if r.AnswerTokens > 0 {
		return r.AnswerTokens
	}
	return tokens(len(r.Text) + len(r.Refusal))
}

// payload is the whole body of the reply.
func (x *exchange) payload() []byte {
	switch {
	case x.reply.Body != nil:
		return x.reply.Body
	case x.request.Stream:
		return x.events()
	}
	return marshal(x.completion("chat.completion", "message", map[string]any{
		"role": "assistant", "content": x.reply.Text, "refusal": orNull(x.reply.Refusal),
	}, x.finish()))
}

func (x *exchange) completion(object, field string, message, finish any) map[string]any {
	model := x.reply.Model
	if model == "" {
		model = x.request.Model
	}
	c := map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", x.request.N), "object": object, "created": x.request.Time.Unix(), "model": model,
		"choices": []any{map[string]any{"index": 0, field: message, "logprobs": nil, "finish_reason": finish}},
	}
	if !x.reply.NoUsage && object == "chat.completion" {
		c["usage"] = x.usage()
	}
	return c
}

func (x *exchange) usage() map[string]any {
	prompt, answer := x.request.PromptTokens, x.reply.answerTokens()
	return map[string]any{"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
}

func (x *exchange) finish() any {
	switch x.reply.Finish {
	case "":
		return "stop"
	case "-":
		return nil
	}
	return x.reply.Finish
}

// eventBytes is how much text one event of a stream carries.
const eventBytes = 16

// events is the answer as server-sent events.
func (x *exchange) events() []byte {
	var b bytes.Buffer
	send := func(v any) { fmt.Fprintf(&b, "data: %s\n\n", marshal(v)) }
	const object = "chat.completion.chunk"
	send(x.completion(object, "delta", map[string]any{"role": "assistant", "content": ""}, nil))
	for text := []rune(x.reply.Text); len(text) > 0; {
		n := min(eventBytes, len(text))
		send(x.completion(object, "delta", map[string]any{"content": string(text[:n])}, nil))
		text = text[n:]
	}
	send(x.completion(object, "delta", map[string]any{}, x.finish()))
	if !x.reply.NoUsage {
		last := x.completion(object, "delta", nil, nil)
		last["choices"], last["usage"] = []any{}, x.usage()
		send(last)
	}
	b.WriteString("data: [DONE]\n\n")
	return b.Bytes()
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("llmtest: %v", err)) // maps of strings and numbers always marshal
	}
	return b
}
