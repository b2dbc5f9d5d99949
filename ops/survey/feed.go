package survey

import (
	"sync"
	"sync/atomic"

	"memoryd"
	"memoryd/store"
)

// feedSize is how many of the newest calls a live view can still be told of.
const feedSize = 200

// feed holds the newest calls while somebody watches.
type feed struct {
	watchers atomic.Int64
	ended    atomic.Bool

	mu   sync.Mutex
	ring [feedSize]memoryd.Call // without their outputs
	n    int64                  // of calls so far
}

// Came tells the live view of recorded calls. While nobody watches, that costs one atomic load.
func (s *Survey) Came(calls []memoryd.Call, done []store.Appended) {
	f := &s.feed
	if f.watchers.Load() == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, c := range calls {
		if !done[i].New {
			continue
		}
		c.Output, c.Metadata = "", nil
		if len(c.Input) > 400 {
			c.Input = c.Input[:400:400]
		}
		f.n++
		f.ring[f.n%feedSize] = c
	}
}

// Watch begins a live view; call stop to end it.
func (s *Survey) Watch() (stop func()) {
	s.feed.watchers.Add(1)
	return sync.OnceFunc(func() { s.feed.watchers.Add(-1) })
}

// EndLive ends all live views, because the server stops and waits for its requests.
func (s *Survey) EndLive() { s.feed.ended.Store(true) }

// Ended reports whether live views must end.
func (s *Survey) Ended() bool { return s.feed.ended.Load() }

// Since returns the calls of a workspace that came after so many, oldest first, without their
// outputs, and how many came by now. Calls that the ring has already dropped are missing.
func (s *Survey) Since(workspace string, number int64) (list []memoryd.Call, newest int64) {
	f := &s.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	for n := max(number, f.n-feedSize) + 1; n <= f.n; n++ {
		if c := f.ring[n%feedSize]; c.Workspace == workspace {
			list = append(list, c)
		}
	}
	return list, f.n
}
