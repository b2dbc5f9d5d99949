package llm

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"

	"github.com/sashabaranov/go-openai"
)

// Model is a Client as used by one op. It is safe for concurrent use.
type Model struct {
	client *Client
	queue  *opQueue
}

// Name returns the configured name of the first model.
func (m *Model) Name() string { return m.client.cfg.ModelName }

// maxAdaptations bounds how often one request is sent again in another form.
const maxAdaptations = 5

// Waits between the attempts of a request.
const (
	retryFirst   = 500 * time.Millisecond
	retryLongest = 30 * time.Second
)

// Causes of contexts that the client cancels itself.
var (
	errAttemptTimeout = errors.New("no complete reply within attempt_timeout")
	errTotalTimeout   = errors.New("not done within three times attempt_timeout")
)

// Complete sends the prompt when its turn comes, and retries as long as that makes sense. The error
// is a *memoryd.ModelError, or of kind Closed after Close. When ctx ends, Complete returns at once
// with a temporary "timeout" that wraps the cause of ctx, and releases everything.
func (m *Model) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	maxTokens := p.MaxTokens
	if maxTokens <= 0 {
		maxTokens = m.client.cfg.MaxTokens
	}
	r := &run{m: m, prompt: p, maxTokens: maxTokens, job: &job{
		queue: m.queue, workspace: p.Workspace, maxTokens: maxTokens, granted: make(chan grant, 1), bytes: len(p.System) +
			len(p.User) + len(p.Schema),
	}}
	if err := r.do(ctx); err != nil {
		return memoryd.Completion{}, err
	}
	return r.done, nil
}

// run is one prompt on its way to an answer.
type run struct {
	m         *Model
	prompt    memoryd.Prompt
	done      memoryd.Completion
	job       *job
	maxTokens int
	failed    int // attempts that count against the retries
	adapted   int
	last      *fault
}

// do asks until there is an answer, or no sense in asking again.
func (r *run) do(ctx context.Context) error {
	c := r.m.client
	for started := false; ; started = true {
		t, err := c.acquire(ctx, r.job)
		if err != nil {
			return r.giveUp(err)
		}
		if !started {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, c.cfg.TotalTimeout, errTotalTimeout) //nolint:fatcontext // once, in the first turn
			defer cancel()
		}
		f := r.attempt(ctx, t)
		if f == nil {
			return nil
		}
		r.last = f
		delay, again := r.next(f)
		if !again {
			return f.modelError(0)
		}
		if !lifecycle.Sleep(ctx, delay) {
			return r.giveUp(context.Cause(ctx))
		}
	}
}

// next says whether to send the request again, and after which delay.
func (r *run) next(f *fault) (time.Duration, bool) {
	switch f.class {
	case refused, stopModel:
		return 0, true // the limiter makes it wait, sends it to the next model, or ends it
	case adapt:
		r.adapted++
		return 0, r.adapted <= maxAdaptations
	case cut:
		if r.failed > 0 || r.maxTokens <= 0 {
			return 0, false
		}
		r.failed++
		r.maxTokens *= 2
		r.job.maxTokens = r.maxTokens
		return 0, r.m.client.withdraw()
	case transient, badReply:
		tries := r.m.client.cfg.Retries
		if f.tries > 0 {
			tries = min(tries, f.tries)
		}
		if r.failed >= tries || !r.m.client.withdraw() {
			return 0, false
		}
		d := min(retryLongest, retryFirst<<min(r.failed, 10))
		r.failed++
		return d/2 + time.Duration(rand.Int64N(int64(d))), true
	}
	return 0, false
}

// giveUp is the error of a request that gets no further attempt. What an
// attempt met is worth more to the caller than that time ran out.
func (r *run) giveUp(err error) error {
	if _, ok := errors.AsType[*memoryd.ModelError](err); ok || errors.Is(err, errClosed) {
		return err
	}
	if r.last != nil && errors.Is(err, errTotalTimeout) {
		return r.last.modelError(0)
	}
	return &memoryd.ModelError{Reason: "timeout", Temporary: true, Err: err}
}

// attempt sends the request once and gives its permit back.
func (r *run) attempt(ctx context.Context, t *permit) *fault {
	c := r.m.client
	a := memoryd.Attempt{Op: r.m.queue.name, Model: t.endpoint.model, Workspace: r.prompt.Workspace, Tool: r.prompt.Tool, Waited: t.waited}
	ctx, end := c.tracer(ctx, a)
	sent := time.Now()
	usage, x, f := r.send(ctx, t)
	if f != nil && f.class == refused || f != nil && f.class == transient {
		f.after = retryAfter(x.header, time.Now())
	}
	c.release(r.job, t, f, usage)
	a.Outcome, a.Took, a.Usage = f.outcome(), time.Since(sent), usage
	end(a)
	return f
}

// send is the exchange itself, under the attempt's time limit.
func (r *run) send(ctx context.Context, t *permit) (memoryd.Usage, *exchange, *fault) {
	c := r.m.client
	x := &exchange{http: c.http, key: c.key, header: http.Header{}}
	attempt, cancel := context.WithTimeoutCause(ctx, c.cfg.AttemptTimeout, errAttemptTimeout)
	defer cancel()
	conf := openai.DefaultConfig(c.key)
	conf.BaseURL, conf.HTTPClient = c.cfg.BaseURL, x
	resp, err := openai.NewClientWithConfig(conf).CreateChatCompletion(attempt,
		t.dialect.request(t.endpoint.model, c.cfg.Temperature, r.maxTokens, r.prompt))
	if err != nil {
		return memoryd.Usage{}, x, faultOf(attempt, x, err, t.dialect)
	}
	var f *fault
	r.done, f = readReply(resp)
	return r.done.Usage, x, f
}

// format is how an answer that fits a schema is asked for: the rungs of the
// ladder, best first.
type format int

const (
	formatSchema format = iota // json_schema, strict
	formatObject               // json_object, the schema in the prompt
	formatText                 // the schema in the prompt
)

// dialect is the form of request that a model's server takes. Each model keeps
// the one that worked last.
type dialect struct {
	format        format
	oldCap        bool // max_tokens instead of max_completion_tokens
	noTemperature bool
}

// newDialect is the form to try first. Reasoning models, told by the names that
// the client library checks too, take no temperature and no max_tokens.
func newDialect(model string) dialect {
	reasoning := slices.ContainsFunc([]string{"o1", "o3", "o4", "gpt-5", "gpt-6"}, func(prefix string) bool {
		return strings.HasPrefix(model, prefix)
	})
	return dialect{oldCap: !reasoning, noTemperature: reasoning}
}

// without is the next form to try when the server rejected d with e; false when
// the error is about something else.
func (d dialect) without(e *apiError) (dialect, bool) {
	switch {
	case d.oldCap && e.mentions("max_completion_tokens"):
		d.oldCap = false
	case !d.noTemperature && e.mentions("temperature"):
		d.noTemperature = true
	case d.format < formatText && e.mentions("response_format", "json_schema", "json_object", "json mode",
		"structured output", "guided", "grammar"):
		d.format++
	default:
		return d, false
	}
	return d, true
}

// request builds the request for p in dialect d.
func (d dialect) request(model string, temperature float64, maxTokens int, p memoryd.Prompt) openai.ChatCompletionRequest {
	req := openai.ChatCompletionRequest{Model: model}
	system := p.System
	if len(p.Schema) > 0 {
		if d.format != formatSchema {
			if system != "" {
				system += "\n\n"
			}
			system += schemaWords + string(p.Schema)
		}
		req.ResponseFormat = d.responseFormat(p)
	}
	if system != "" {
		req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: system})
	}
	req.Messages = append(req.Messages, openai.ChatCompletionMessage{Role: openai.ChatMessageRoleUser, Content: p.User})
	if d.oldCap {
		req.MaxTokens = maxTokens //nolint:staticcheck // older servers know no other name
	} else {
		req.MaxCompletionTokens = maxTokens
	}
	if !d.noTemperature {
		// The library drops a zero; the smallest number above it is sent and
		// means the same to a server.
		req.Temperature = max(float32(temperature), math.SmallestNonzeroFloat32)
	}
	return req
}

func (d dialect) responseFormat(p memoryd.Prompt) *openai.ChatCompletionResponseFormat {
	switch d.format {
	case formatSchema:
		return &openai.ChatCompletionResponseFormat{
			Type: openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{
				Name: cmp.Or(p.SchemaName, "answer"), Schema: p.Schema, Strict: true,
			},
		}
	case formatObject:
		return &openai.ChatCompletionResponseFormat{Type: openai.ChatCompletionResponseFormatTypeJSONObject}
	}
	return nil
}

// schemaWords stand before a schema in the static part of a prompt. JSON mode demands that the
// word JSON occurs.
const schemaWords = "Answer with one JSON object that fits this JSON Schema, and with nothing else:\n"
