package benchmark

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"memoryd"
)

// Replies is a model that answers what another one was recorded to answer. It is
// safe for concurrent use.
type Replies struct {
	name string
	live memoryd.Model

	mu      sync.Mutex
	byKey   map[string][]reply
	missing int
	other   int
}

var _ memoryd.Model = (*Replies)(nil)

// ReadReplies reads what a Recorder wrote. All replies must be of one model,
// whose name is taken on. live is asked for what was not recorded; nil means
// that such requests fail.
func ReadReplies(in io.Reader, live memoryd.Model) (*Replies, error) {
	r := &Replies{live: live, byKey: map[string][]reply{}}
	lines := bufio.NewReader(in)
	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := r.add(line); err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
		}
		if err != nil {
			break
		}
	}
	if r.name == "" {
		return nil, errors.New("it holds no reply")
	}
	if live != nil && live.Name() != r.name {
		return nil, fmt.Errorf("its replies are of the model %q, and %q is configured", r.name, live.Name())
	}
	return r, nil
}

func (r *Replies) add(line []byte) error {
	var one reply
	if err := json.Unmarshal(line, &one); err != nil {
		return describe(err)
	}
	switch {
	case one.Key == "" || one.Model == "":
		return errors.New("not a recorded reply: key or model is missing")
	case r.name != "" && r.name != one.Model:
		return fmt.Errorf("a reply of the model %q after replies of %q", one.Model, r.name)
	}
	r.name = one.Model
	r.byKey[one.Key] = append(r.byKey[one.Key], one)
	return nil
}

// Name is the name of the model that was recorded.
func (r *Replies) Name() string { return r.name }

// Complete gives the reply recorded for the calls that p is about. Several for
// one call come in their order, and the last of them again and again. A request
// for several calls is answered from the replies about each.
func (r *Replies) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	if one, ok := r.next(questionOf(p)); ok {
		return one.again()
	}
	if r.live != nil {
		return r.live.Complete(ctx, p)
	}
	return memoryd.Completion{}, &memoryd.ModelError{Reason: "rejected", Err: errors.New("no reply is recorded")}
}

func (r *Replies) next(q question) (one reply, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one, ok = r.take(q.key); !ok && len(q.calls) > 1 {
		one, ok = join(q.calls, r.peek)
	}
	switch {
	case !ok && len(q.calls) > 1: // the judge asks about each of them alone
	case !ok:
		r.missing++
	case one.Instructions != q.instructions && one.Batch == (len(q.calls) > 1):
		r.other++
	}
	return one, ok
}

// peek finds the next reply to a question, and take uses it up, unless it is the
// last.
func (r *Replies) peek(key string) (reply, bool) {
	list := r.byKey[key]
	if len(list) == 0 {
		return reply{}, false
	}
	return list[0], true
}

func (r *Replies) take(key string) (reply, bool) {
	one, ok := r.peek(key)
	if len(r.byKey[key]) > 1 {
		r.byKey[key] = r.byKey[key][1:]
	}
	return one, ok
}

// Missing counts the requests for which no reply was recorded.
func (r *Replies) Missing() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.missing
}

// Other counts the replies given that were recorded under other instructions
// than the requests had.
func (r *Replies) Other() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.other
}

// describe says a fault of a member without the names of our types.
func describe(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s: a %s is not expected there", e.Field, e.Value)
	}
	return err
}

// Recorder is a model that writes down what the model behind it answers, one
// line of JSON for each call. It is safe for concurrent use.
type Recorder struct {
	model memoryd.Model

	mu  sync.Mutex
	out io.Writer
	err error
}

var _ memoryd.Model = (*Recorder)(nil)

// NewRecorder records m to out.
func NewRecorder(m memoryd.Model, out io.Writer) *Recorder { return &Recorder{model: m, out: out} }

// Name is the model's.
func (r *Recorder) Name() string { return r.model.Name() }

// Complete asks the model and records what came of it, unless it was the caller
// who gave up.
func (r *Recorder) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	c, err := r.model.Complete(ctx, p)
	if ctx.Err() != nil && err != nil {
		return c, err
	}
	for _, one := range repliesTo(p, r.model.Name(), c, err) {
		r.write(one)
	}
	return c, err
}

func (r *Recorder) write(one reply) {
	line, err := json.Marshal(one)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && r.err == nil {
		_, err = r.out.Write(append(line, '\n'))
	}
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("a reply was not recorded: %w", err)
	}
}

// Err is the first failure to record; what comes after it is not recorded.
func (r *Recorder) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

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
