// Package ops is the pipelines that serve the endpoints. An Op is one step; a
// Pipeline is a list of them, itself an Op; a Catalog knows how to build each
// op by its name, and Assemble turns the flow section of the configuration
// into pipelines. The data of a request travels in a State.
//
// Ops speak to the rest of the program through the store contract and through
// the one- or two-method interfaces that they declare (Judge, Author).
package ops

import (
	"context"
	"errors"
	"fmt"
)

// Op is one step of a pipeline. It may change st; it must not keep it.
type Op interface {
	Name() string
	Run(ctx context.Context, st *State) error
}

// Tracer follows the ops of a pipeline. Op is called before an op runs; the op
// runs within the context that it returns, and end is told its error. It must
// not change st, nor keep it beyond end.
type Tracer interface {
	Op(ctx context.Context, flow, op string, st *State) (within context.Context, end func(error))
}

// Pipeline runs its ops one after the other and stops at the first error.
type Pipeline struct {
	Label string
	Ops   []Op
	// Tracer follows the ops; nil: nobody does.
	Tracer Tracer
}

// Name is the pipeline's label.
func (p Pipeline) Name() string { return p.Label }

// Run implements Op. A context that ended stops the pipeline between two ops,
// never within one.
func (p Pipeline) Run(ctx context.Context, st *State) error {
	for _, op := range p.Ops {
		if ctx.Err() != nil {
			return fmt.Errorf("%s: before %s: %w", p.Label, op.Name(), context.Cause(ctx))
		}
		if err := p.step(ctx, op, st); err != nil {
			return fmt.Errorf("%s: %s: %w", p.Label, op.Name(), err)
		}
	}
	return nil
}

// step runs one op. An op that panics is ended all the same.
func (p Pipeline) step(ctx context.Context, op Op, st *State) (err error) {
	if p.Tracer == nil {
		return op.Run(ctx, st)
	}
	ctx, end := p.Tracer.Op(ctx, p.Label, op.Name(), st)
	err = errPanicked
	defer func() { end(err) }()
	err = op.Run(ctx, st)
	return err
}

// errPanicked is what the tracer is told of an op that panicked.
var errPanicked = errors.New("the op panicked")

// Refusal ends a pipeline with an answer that the client shall read as an
// application failure ("success": false), not as an error of the service.
type Refusal struct{ Answer string }

// Error gives the answer.
func (r *Refusal) Error() string { return r.Answer }

func refuse(format string, args ...any) error {
	return &Refusal{Answer: fmt.Sprintf(format, args...)}
}
