package search

import (
	"sync"
	"sync/atomic"
	"time"
)

// saidEvery is the least time between two log lines about one kind of failure.
const saidEvery = time.Minute

// seldom keeps log lines apart.
type seldom struct {
	now  func() time.Time
	mu   sync.Mutex
	last time.Time
}

// say reports whether a line may be written now.
func (s *seldom) say() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if !s.last.IsZero() && now.Sub(s.last) < saidEvery {
		return false
	}
	s.last = now
	return true
}

// How long queries do without vectors after the model failed one.
const (
	restLeast = 10 * time.Second
	restMost  = 5 * time.Minute
)

// rest keeps searches from waiting, one after the other, for a model that is away.
type rest struct {
	now   func() time.Time
	mu    sync.Mutex
	until time.Time
}

func (r *rest) on() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now().Before(r.until)
}

// begin rests for d, within bounds.
func (r *rest) begin(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = r.now().Add(min(restMost, max(restLeast, d)))
}

// seen is the length of the model's newest vectors, 0 before the first: a server
// may put another model behind a name.
type seen struct{ n atomic.Int64 }

func (s *seen) note(length int) { s.n.Store(int64(length)) }

func (s *seen) fits(length int) bool {
	n := s.n.Load()
	return n == 0 || n == int64(length)
}
