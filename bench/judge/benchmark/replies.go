package benchmark

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
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
		return one.replay()
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

// replay gives the reply as the model gave it.
func (r reply) replay() (memoryd.Completion, error) {
	c := memoryd.Completion{
		Text: r.Text, Model: r.Answered,
		Usage: memoryd.Usage{PromptTokens: r.PromptTokens, CompletionTokens: r.CompletionTokens},
	}
	if r.Reason != "" {
		return c, &memoryd.ModelError{Reason: r.Reason, Temporary: r.Temporary, Err: errors.New("as recorded")}
	}
	return c, nil
}

// question is what a request to a judge's model asks, as far as a recorded reply
// is found by it.
type question struct {
	// key identifies the request, and instructions what stands around the calls.
	key, instructions string
	// calls are those that the request is about.
	calls []asked
}

// asked is a call of a request: the key that it would have in a request of its
// own, and its id in this one.
type asked struct{ key, id string }

// dataBlock is the untrusted part of a request to the judge: one line of JSON
// between two marks with a random word.
var dataBlock = regexp.MustCompile(`^<<<DATA ([0-9A-Za-z]+)>>>\n(.*)\n<<<END ([0-9A-Za-z]+)>>>\n.*\n?`)

// questionOf reads a request. A call is known by its workspace, its tool and what
// the model is shown of it, not by the random word, the instructions or the
// earlier evaluations of the tool: a recorded reply stays of use when these change.
// What stands behind the data beside the request itself, such as a complaint
// about the last answer, counts too. A request of another form is known by all
// of its text.
func questionOf(p memoryd.Prompt) question {
	q := question{instructions: digest(p.System, string(p.Schema))[:12]}
	m := dataBlock.FindStringSubmatch(p.User)
	var data struct {
		Tool  string                       `json:"tool"`
		About json.RawMessage              `json:"tool_description"`
		Call  map[string]json.RawMessage   `json:"call"`
		Calls []map[string]json.RawMessage `json:"calls"`
	}
	if m == nil || m[1] != m[3] || json.Unmarshal([]byte(m[2]), &data) != nil {
		q.key = digest(p.Workspace, p.User)
		return q
	}
	if data.Call != nil {
		data.Calls = append(data.Calls, data.Call)
	}
	remark := strings.ReplaceAll(p.User[len(m[0]):], m[1], "")
	keys := []string{}
	for _, call := range data.Calls {
		var a asked
		_ = json.Unmarshal(call["id"], &a.id) // a call that stands alone has none
		delete(call, "id")
		if data.About != nil { // several calls say it once
			call["tool_description"] = data.About
		}
		shown, err := json.Marshal(call) // with its members in order
		if err != nil {
			shown = []byte(m[2])
		}
		a.key = digest(p.Workspace, data.Tool, string(shown), remark)
		q.calls = append(q.calls, a)
		keys = append(keys, a.key)
	}
	q.key = digest(keys...)
	if len(keys) == 1 {
		q.key = keys[0]
	}
	return q
}

// digest is a hash over the parts: 32 hexadecimal digits.
func digest(parts ...string) string {
	h := sha256.New()
	for _, s := range parts {
		sum := sha256.Sum256([]byte(s)) // of fixed length, so that parts cannot run together
		h.Write(sum[:])
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// evaluations is a model's answer about several calls.
type verdicts struct {
	Verdicts []map[string]json.RawMessage `json:"verdicts"`
}

// split makes of the answer about several calls one for each, as if it had been
// asked for alone, so that a later run may put other calls together. It gives
// nil for a single call, and unless each call has exactly one evaluation.
func split(calls []asked, r reply) []reply {
	var all verdicts
	if len(calls) < 2 || json.Unmarshal([]byte(r.Text), &all) != nil || len(all.Verdicts) != len(calls) {
		return nil
	}
	byID := map[string]string{}
	for _, v := range all.Verdicts {
		var id string
		_ = json.Unmarshal(v["id"], &id) // "" is no id of a call
		delete(v, "id")
		text, err := json.Marshal(v)
		if err != nil {
			return nil
		}
		byID[id] = string(text)
	}
	parts := make([]reply, len(calls))
	for i, call := range calls {
		text, ok := byID[call.id]
		if !ok {
			return nil
		}
		one := r
		one.Key, one.Text = call.key, text
		one.PromptTokens, one.CompletionTokens = portion(r.PromptTokens, i, len(calls)), portion(r.CompletionTokens, i, len(calls))
		parts[i] = one
	}
	return parts
}

// portion is the i-th of n nearly equal parts of whole, which add up to it.
func portion(whole, i, n int) int { return whole*(i+1)/n - whole*i/n }

// join makes of the replies about single calls an answer about several. Calls
// without a reply in good form are left out: the judge asks about them again,
// alone. It gives false when there is none.
func join(calls []asked, find func(key string) (reply, bool)) (reply, bool) {
	var all verdicts
	var joined reply
	for _, call := range calls {
		one, ok := find(call.key)
		var v map[string]json.RawMessage
		if !ok || one.Reason != "" || json.Unmarshal([]byte(one.Text), &v) != nil || v == nil {
			continue
		}
		v["id"], _ = json.Marshal(call.id) // a string can be encoded
		all.Verdicts = append(all.Verdicts, v)
		one.PromptTokens += joined.PromptTokens
		one.CompletionTokens += joined.CompletionTokens
		joined = one
	}
	text, err := json.Marshal(all)
	joined.Text = string(text)
	return joined, err == nil && len(all.Verdicts) > 0
}
