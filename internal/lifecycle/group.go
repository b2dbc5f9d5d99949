package lifecycle

import (
	"context"
	"log/slog"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Group runs goroutines that one caller waits for. It is an errgroup whose goroutines handle
// panics as [Do] does.
type Group struct {
	ctx   context.Context //nolint:containedctx // the group lives no longer than the call it was made for
	log   *slog.Logger
	part  string
	group *errgroup.Group
}

// NewGroup returns a group, and a context that ends with its first error or when Wait
// returns. limit limits how many goroutines run at a time; 0 means no limit.
func NewGroup(ctx context.Context, log *slog.Logger, part string, limit int) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	if limit > 0 {
		g.SetLimit(limit)
	}
	return &Group{ctx: ctx, log: log, part: part, group: g}, ctx
}

// Go runs f as soon as the limit allows, and waits until then.
func (g *Group) Go(f func() error) {
	g.group.Go(func() error { return Do(g.ctx, g.log, g.part, f) })
}

// Wait waits for all goroutines and returns the first error.
func (g *Group) Wait() error { return g.group.Wait() }

// Flights lets callers that want the same result at the same time share one run. The run
// begins after each of them asked, so its result is not older than any of their questions.
// The zero value is ready to use.
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

// Do returns the result of run, or of another caller's run that began after this call. If no
// run is active for its key, a caller runs at once, for itself; callers that arrive meanwhile
// share the next run. That run continues if its first caller leaves, because others may wait:
// its context has the values of ctx but does not end with it. A caller whose ctx ends gets
// its cause at once. After a panic, each waiting caller gets a *PanicError, and the next
// caller starts a new run.
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
