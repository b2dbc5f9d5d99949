package benchmark

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"memoryd"
)

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
