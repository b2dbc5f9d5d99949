package qdrant

import (
	"context"
	"slices"
	"time"

	"memoryd"

	"google.golang.org/grpc"
)

// ToolID is the id of a tool's point.
func ToolID(ref memoryd.ToolRef) string { return toolID(ref) }

// AgeLease makes the store's lease of the clock as old as if nobody had renewed it
// for so long.
func (s *Store) AgeLease(d time.Duration) {
	st := &s.clockLease
	st.mu.Lock()
	defer st.mu.Unlock()
	st.renewAt, st.endsAt = st.renewAt.Add(-d), st.endsAt.Add(-d)
}

// Waiting is how many appends wait for a request that they will share.
func (s *Store) Waiting() int {
	s.deliveries.mu.Lock()
	defer s.deliveries.mu.Unlock()
	if s.deliveries.next == nil {
		return 0
	}
	return len(s.deliveries.next.questions)
}

// SettledFor is how old a call has to be for its count to be settled.
func (s *Store) SettledFor(ctx context.Context) time.Duration {
	low, err := s.lowWater(ctx)
	if err != nil {
		panic(err)
	}
	return time.Since(instant(low))
}

// AgeClock makes the appends under way as old as if they had begun that much earlier.
func (s *Store) AgeClock(d time.Duration) {
	c := &s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range c.begun {
		b.stamp -= stampAt(time.Unix(stampEpoch, 0).Add(d))
	}
}

// FoldNow folds what can be of a tool, and gives how many calls are folded.
func (s *Store) FoldNow(ctx context.Context, ref memoryd.ToolRef) int64 {
	t, err := s.find(ctx, ref)
	if err != nil {
		panic(err)
	}
	if s.settle(ctx, t, true) != nil {
		panic("not folded")
	}
	if t, err = s.find(ctx, ref); err != nil {
		panic(err)
	}
	return t.base().calls
}

// Clearing reports whether a history is being cleared.
func (s *Store) Clearing() bool {
	return slices.ContainsFunc(s.trims.Values(), func(c *clearing) bool {
		if !c.mu.TryLock() {
			return true
		}
		defer c.mu.Unlock()
		return c.due.Load() >= trimSlack
	})
}

// Bodies is how many calls of a tool have their bodies, kept or not cleared away yet.
func (s *Store) Bodies(ctx context.Context, ref memoryd.ToolRef) int {
	t, err := s.find(ctx, ref)
	if err != nil {
		panic(err)
	}
	ids, err := s.keptIDs(ctx, t.life)
	if err != nil {
		panic(err)
	}
	return len(ids)
}

// CopyAway makes the store read as after a copy did not answer.
func (s *Store) CopyAway() { s.copyAwayUntil.Store(time.Now().Add(time.Hour).UnixNano()) }

// WithDialer connects with d.
func WithDialer(d Dialer) Option { return func(o *options) { o.dial = d } }

// WithInterceptor passes each request to f, below the retries.
func WithInterceptor(f grpc.UnaryClientInterceptor) Option {
	return func(o *options) { o.intercept = append(o.intercept, f) }
}

// WithSleep replaces the timer between retries.
func WithSleep(f func(ctx context.Context, d time.Duration) error) Option {
	return func(o *options) {
		o.sleep = func(ctx context.Context, d time.Duration) bool { return f(ctx, d) == nil }
	}
}

// WithGrace replaces the age of an hour after which a sweep folds calls.
func WithGrace(d time.Duration) Option { return func(o *options) { o.grace = d } }

// ErrUnfit is part of the errors of Open.
var ErrUnfit = errUnfit
