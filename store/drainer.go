package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"memoryd"
)

// Drainer stands before a backend and drains it at the end: it lets no call in whose context has ended, none
// after Close, and Close waits for those that are under way. Its zero value is
// open.
type Drainer struct {
	mu      sync.RWMutex
	closed  bool
	running sync.WaitGroup
}

// Guard returns the backend behind the drainer, with the arguments of each call
// checked, so that the backend gets none that can never work.
func (g *Drainer) Guard(backend Store) Store { return interceptor{drainer: g, backend: backend} }

// Enter registers what a backend does beside the contract, as Guard does with the
// calls; whoever was let in calls Leave.
func (g *Drainer) Enter(ctx context.Context) error {
	if err := Ended(ctx); err != nil {
		return err
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return memoryd.Errorf(memoryd.Closed, "the store is closed")
	}
	g.running.Add(1)
	return nil
}

// Leave ends what Enter let in.
func (g *Drainer) Leave() { g.running.Done() }

// shut closes the drainer and waits; it reports false if it was closed already.
func (g *Drainer) shut() bool {
	g.mu.Lock()
	already := g.closed
	g.closed = true
	g.mu.Unlock()
	g.running.Wait()
	return !already
}

// Ended gives the error of a context that has ended, or nil.
func Ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("store: %w", context.Cause(ctx))
}

type sinceKey struct{}

// Since says when what a caller asks of a store in ctx began: a remote backend counts
// its patience from there, over all questions together. Without it each question has
// its own.
func Since(ctx context.Context, begun time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, begun)
}

// Begun is the time of Since, if it was said.
func Begun(ctx context.Context) (begun time.Time, ok bool) {
	begun, ok = ctx.Value(sinceKey{}).(time.Time)
	return begun, ok
}
