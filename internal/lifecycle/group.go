package lifecycle

import (
	"context"
	"fmt"
	"log/slog"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"
)

// Group runs goroutines that one caller waits for. It is an errgroup whose
// goroutines have the edge of [Do].
type Group struct {
	ctx   context.Context //nolint:containedctx // the group lives no longer than the call it was made for
	log   *slog.Logger
	part  string
	group *errgroup.Group
}

// NewGroup makes a group and a context that ends with its first error, or when
// Wait returns. limit bounds how many run at a time; 0 is no bound.
func NewGroup(ctx context.Context, log *slog.Logger, part string, limit int) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	if limit > 0 {
		g.SetLimit(limit)
	}
	return &Group{ctx: ctx, log: log, part: part, group: g}, ctx
}

// Go runs f, as soon as the limit allows; until then it waits.
func (g *Group) Go(f func() error) {
	g.group.Go(func() error { return Do(g.ctx, g.log, g.part, f) })
}

// Wait waits for all and gives the first error.
func (g *Group) Wait() error { return g.group.Wait() }

// Flights lets callers that want the same at the same time share one run. The
// zero value is ready.
type Flights[V any] struct{ group singleflight.Group }

// Do gives the result of run, or of the run under way for the same key. The run
// goes on when its first caller leaves, for others may be waiting: its context has
// the values of ctx but not its end. A caller whose own ctx ends gets its cause at
// once. After a panic every waiting caller gets the *PanicError, and the next
// caller runs anew.
func (f *Flights[V]) Do(ctx context.Context, log *slog.Logger, part, key string, run func(context.Context) (V, error)) (V, error) {
	var none V
	got := f.group.DoChan(key, func() (any, error) {
		var v V
		detached := context.WithoutCancel(ctx)
		err := Do(detached, log, part, func() (err error) {
			v, err = run(detached)
			return err
		})
		return v, err
	})
	select {
	case r := <-got:
		v, ok := r.Val.(V)
		if r.Err == nil && !ok {
			return none, fmt.Errorf("%s: the shared run ended without a result", part)
		}
		return v, r.Err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
