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
	"fmt"
)

// Op is one step of a pipeline. It may change st; it must not keep it.
type Op interface {
	Name() string
	Run(ctx context.Context, st *State) error
}

// Pipeline runs its ops one after the other and stops at the first error.
type Pipeline struct {
	Label string
	Ops   []Op
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
		if err := op.Run(ctx, st); err != nil {
			return fmt.Errorf("%s: %s: %w", p.Label, op.Name(), err)
		}
	}
	return nil
}

// Refusal ends a pipeline with an answer that the client shall read as an
// application failure ("success": false), not as an error of the service.
type Refusal struct{ Answer string }

// Error gives the answer.
func (r *Refusal) Error() string { return r.Answer }

func refuse(format string, args ...any) error {
	return &Refusal{Answer: fmt.Sprintf(format, args...)}
}
