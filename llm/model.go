package llm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"time"

	"memoryd"

	"github.com/sashabaranov/go-openai"
)

// Model is a Client as one op sees it. It is safe for concurrent use.
type Model struct {
	client *Client
	queue  *opQueue
}

// Name is the first model's name, as configured.
func (m *Model) Name() string { return m.client.cfg.ModelName }

// maxAdaptations bounds how often one request is sent again in another form.
const maxAdaptations = 5

// Waits between the attempts of one request.
const (
	retryFirst   = 500 * time.Millisecond
	retryLongest = 30 * time.Second
)

// Causes of contexts that the client ends itself.
var (
	errAttemptTimeout = errors.New("no complete reply within attempt_timeout")
	errTotalTimeout   = errors.New("not done within total_timeout")
)

// Complete sends the prompt when its turn comes, and again as long as that
// makes sense. The error is a *memoryd.ModelError, or of kind Closed after
// Close. When ctx ends it returns at once, with a temporary "timeout" that
// wraps ctx's cause, and holds nothing any more.
func (m *Model) Complete(ctx context.Context, p memoryd.Prompt) (memoryd.Completion, error) {
	maxTokens := p.MaxTokens
	if maxTokens <= 0 {
		maxTokens = m.client.cfg.MaxTokens
	}
	q := &completing{prompt: p, temperature: m.client.cfg.Temperature}
	r := m.newRun(q, p.Workspace, p.Tool, len(p.System)+len(p.User)+len(p.Schema), maxTokens)
	if err := r.do(ctx); err != nil {
		return memoryd.Completion{}, err
	}
	return q.done, nil
}

// question is one kind of request.
type question interface {
	// send asks the server once and keeps the answer. err is the library's: there
	// was no reply, or none that it could read; the fault says what a reply lacks.
	send(ctx context.Context, api *openai.Client, model string, d dialect, maxTokens int) (memoryd.Usage, *fault, error)
	// form is the dialect to ask in where the model's chat takes d.
	form(d dialect) dialect
	// most bounds the reply's body in bytes.
	most() int
}

// completing is a question for text.
type completing struct {
	prompt      memoryd.Prompt
	temperature float64
	done        memoryd.Completion
}

func (q *completing) form(d dialect) dialect { return d }
func (q *completing) most() int              { return maxReply }

func (q *completing) send(ctx context.Context, api *openai.Client, model string, d dialect, maxTokens int) (memoryd.Usage, *fault, error) {
	resp, err := api.CreateChatCompletion(ctx, d.request(model, q.temperature, maxTokens, q.prompt))
	if err != nil {
		return memoryd.Usage{}, nil, err
	}
	var f *fault
	q.done, f = readReply(resp)
	return q.done.Usage, f, nil
}

// run is one question on its way to an answer.
type run struct {
	m         *Model
	ask       question
	workspace string
	tool      string
	job       *job
	maxTokens int
	failed    int // attempts that count against the retries
	adapted   int
	last      *fault
}

func (m *Model) newRun(q question, workspace, tool string, bytes, maxTokens int) *run {
	return &run{m: m, ask: q, workspace: workspace, tool: tool, maxTokens: maxTokens, job: &job{
		queue: m.queue, workspace: workspace, maxTokens: maxTokens, granted: make(chan grant, 1), bytes: bytes,
	}}
}

// do asks until there is an answer, or no sense in asking again.
func (r *run) do(ctx context.Context) error {
	c := r.m.client
	for started := false; ; started = true {
		t, err := c.limiter.acquire(ctx, r.job)
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
		if err := sleep(ctx, delay); err != nil {
			return r.giveUp(err)
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
		return 0, r.m.client.limiter.withdraw()
	case transient, badReply:
		tries := r.m.client.cfg.Retries
		if f.tries > 0 {
			tries = min(tries, f.tries)
		}
		if r.failed >= tries || !r.m.client.limiter.withdraw() {
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
	a := Attempt{Op: r.m.queue.name, Model: t.endpoint.model, Workspace: r.workspace, Tool: r.tool, Waited: t.waited}
	ctx, end := c.tracer(ctx, a)
	sent := time.Now()
	usage, x, f := r.send(ctx, t)
	if f != nil && f.class == refused || f != nil && f.class == transient {
		f.after = retryAfter(x.header, time.Now())
	}
	c.limiter.release(r.job, t, f, usage, x.header)
	a.Outcome, a.Took, a.Usage = f.outcome(), time.Since(sent), usage
	c.observer(a)
	end(a)
	return f
}

// send is the exchange itself, under the attempt's time limit.
func (r *run) send(ctx context.Context, t *permit) (memoryd.Usage, *exchange, *fault) {
	c := r.m.client
	x := &exchange{http: c.http, key: c.key, header: http.Header{}, most: r.ask.most()}
	attempt, cancel := context.WithTimeoutCause(ctx, c.cfg.AttemptTimeout, errAttemptTimeout)
	defer cancel()
	conf := openai.DefaultConfig(c.key)
	conf.BaseURL, conf.HTTPClient = c.cfg.BaseURL, x
	d := r.ask.form(t.dialect)
	usage, f, err := r.ask.send(attempt, openai.NewClientWithConfig(conf), t.endpoint.model, d, r.maxTokens)
	if err != nil {
		return memoryd.Usage{}, x, faultOf(attempt, x, err, d)
	}
	return usage, x, f
}

// sleep waits, or returns the cause of ctx's end.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Bounds of an embeddings request and its reply.
const (
	maxTexts           = 2048     // of one request, as OpenAI has it
	maxDimensions      = 16384    // of one vector; models have 384 to 4096
	maxEmbeddingsReply = 64 << 20 // bytes of the body, after decompression
)

// Embedder asks the client's model for vectors. It is safe for concurrent use.
type Embedder struct {
	model      *Model
	dimensions int
}

// EmbedderForOp is a view of the client for one op that needs vectors, under the
// same limits, pauses and counts as requests for text. dimensions is how many
// numbers a vector shall have; 0 leaves it to the model.
func (c *Client) EmbedderForOp(op string, dimensions int) *Embedder {
	return &Embedder{model: c.ForOp(op, 0), dimensions: dimensions}
}

// Name is the model's name, as configured.
func (e *Embedder) Name() string { return e.model.Name() }

// Embed gives a vector for each text, in their order, all of one length and as
// the model made them. The texts travel in one request on the workspace's behalf.
// The errors are those of Model.Complete; a reply that does not hold exactly one
// usable vector for each text is a "bad_reply".
func (e *Embedder) Embed(ctx context.Context, workspace string, texts []string) ([][]float32, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) > maxTexts {
		return nil, memoryd.Errorf(memoryd.Invalid, "%d texts to embed at once, at most %d", len(texts), maxTexts)
	}
	bytes := 0
	for _, text := range texts {
		bytes += len(text)
	}
	q := &embedding{texts: texts, dimensions: e.dimensions}
	if err := e.model.newRun(q, workspace, "", bytes, 1).do(ctx); err != nil {
		return nil, err
	}
	return q.vectors, nil
}

// embedding is a question for vectors.
type embedding struct {
	texts      []string
	dimensions int
	vectors    [][]float32
}

// form is one that knows no other: an embeddings request has nothing to adapt.
func (q *embedding) form(dialect) dialect { return dialect{format: formatText, noTemperature: true} }

func (q *embedding) most() int { return maxEmbeddingsReply }

func (q *embedding) send(ctx context.Context, api *openai.Client, model string, _ dialect, _ int) (memoryd.Usage, *fault, error) {
	resp, err := api.CreateEmbeddings(ctx, openai.EmbeddingRequest{
		Input: q.texts, Model: openai.EmbeddingModel(model), Dimensions: q.dimensions,
	})
	if err != nil {
		return memoryd.Usage{}, nil, err
	}
	usage := readUsage(resp.Usage)
	if q.vectors, err = readVectors(resp.Data, len(q.texts), q.dimensions); err != nil {
		return usage, newFault(badReply, "bad_reply", err).temp().retried(1), nil
	}
	return usage, nil, nil
}

// readVectors puts n vectors into the order of their texts, which their indexes
// tell, or says what is wrong with them. dimensions 0 takes any length.
func readVectors(data []openai.Embedding, n, dimensions int) ([][]float32, error) {
	if len(data) != n {
		return nil, fmt.Errorf("the reply has %d vectors for %d texts", len(data), n)
	}
	vectors := make([][]float32, n)
	for _, d := range data {
		switch {
		case d.Index < 0 || d.Index >= n:
			return nil, fmt.Errorf("the reply has a vector for text %d of %d", d.Index, n)
		case vectors[d.Index] != nil:
			return nil, fmt.Errorf("the reply has two vectors for text %d", d.Index)
		}
		if dimensions == 0 {
			dimensions = len(d.Embedding)
		}
		if err := checkVector(d.Embedding, dimensions); err != nil {
			return nil, fmt.Errorf("vector %d: %w", d.Index, err)
		}
		vectors[d.Index] = d.Embedding
	}
	return vectors, nil
}

// checkVector wants finite numbers that are not all zero: a vector with a
// direction.
func checkVector(v []float32, dimensions int) error {
	if len(v) != dimensions || len(v) == 0 || len(v) > maxDimensions {
		return fmt.Errorf("it has %d dimensions, want %d (1 to %d)", len(v), dimensions, maxDimensions)
	}
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return fmt.Errorf("it has no direction (its squares add up to %v)", sum)
	}
	return nil
}
