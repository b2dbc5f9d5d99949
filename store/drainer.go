package store

import (
	"context"
	"fmt"
	"sync"
	"time"

	"memoryd"
)

// Drainer closes a backend cleanly. It rejects calls whose context has ended and calls after Close.
// Close waits for current calls. The zero value is open.
type Drainer struct {
	mu      sync.RWMutex
	closed  bool
	running sync.WaitGroup
}

// Guard returns the backend behind the drainer. It checks the arguments of each call, so that the
// backend never receives invalid ones, and numbers the calls of a tool to restore (Renumber).
func (g *Drainer) Guard(backend Store) Store {
	return interceptor{drainer: g, backend: backend, bracket: Bracket{
		Begin: func(ctx context.Context, _ string) error { return g.Enter(ctx) },
		End:   func(_ string, _ time.Duration, err error) error { g.Leave(); return err },
	}}
}

// Enter registers an operation outside the contract, as Guard does for calls. After a nil error,
// call Leave at the end.
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

// Leave ends an operation that Enter registered.
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

// Ended returns the error of a context that has ended, or nil.
func Ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("store: %w", context.Cause(ctx))
}

type sinceKey struct{}

// Since stores the start time of an operation in ctx. A remote backend applies its timeout from
// that time, across all its requests. Without it, each request has its own timeout.
func Since(ctx context.Context, begun time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, begun)
}

// Begun returns the time that Since stored, if any.
func Begun(ctx context.Context) (begun time.Time, ok bool) {
	begun, ok = ctx.Value(sinceKey{}).(time.Time)
	return begun, ok
}
