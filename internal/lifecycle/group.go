package lifecycle

import (
	"context"
	"log/slog"
	"sync"

	"golang.org/x/sync/errgroup"
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

// Flights lets callers that want the same at the same time share one run, which
// begins after each of them asked: what it finds is no older than any of their
// questions. The zero value is ready.
type Flights[V any] struct {
	mu   sync.Mutex
	next map[string]*flight[V] // of keys with a run under way: what waits for its end, or nil
}

type flight[V any] struct {
	run  func(context.Context) (V, error)
	ctx  context.Context //nolint:containedctx // of its first caller, without its end
	done chan struct{}
	v    V
	err  error
}

// Do gives the result of run, or of another caller's that began after this call. A
// caller that finds no run under way for its key runs at once, for itself; those that
// come meanwhile share the run after that. That one goes on when its first caller
// leaves, for others may be waiting: its context has the values of ctx but not its
// end. A caller whose own ctx ends gets its cause at once. A panic is each waiting
// caller's *PanicError, and the next caller runs anew.
func (f *Flights[V]) Do(ctx context.Context, log *slog.Logger, part, key string, run func(context.Context) (V, error)) (V, error) {
	f.mu.Lock()
	mine, busy := f.next[key]
	if !busy {
		if f.next == nil {
			f.next = map[string]*flight[V]{}
		}
		f.next[key] = nil
		f.mu.Unlock()
		mine = &flight[V]{run: run, ctx: ctx, done: make(chan struct{})}
		mine.execute(log, part)
		f.landed(log, part, key)
		return mine.v, mine.err
	}
	if mine == nil {
		mine = &flight[V]{run: run, ctx: context.WithoutCancel(ctx), done: make(chan struct{})}
		f.next[key] = mine
	}
	f.mu.Unlock()
	select {
	case <-mine.done:
		return mine.v, mine.err
	case <-ctx.Done():
		var none V
		return none, context.Cause(ctx)
	}
}

func (r *flight[V]) execute(log *slog.Logger, part string) {
	defer close(r.done)
	r.err = Do(r.ctx, log, part, func() (err error) {
		r.v, err = r.run(r.ctx)
		return err
	})
}

// landed lets those who waited for the end of a run begin theirs.
func (f *Flights[V]) landed(log *slog.Logger, part, key string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := f.next[key]
	if next == nil {
		delete(f.next, key)
		return
	}
	f.next[key] = nil
	Go(next.ctx, log, part, func() error {
		next.execute(log, part)
		f.landed(log, part, key)
		return nil
	})
}
