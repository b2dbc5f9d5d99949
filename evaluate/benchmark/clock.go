package benchmark

import (
	"sync"
	"time"
)

// Clock is the time of a run. It moves with the recording and not with the
// machine, so that what a judge remembers for a while, such as a tool's history,
// is the same in every run. It is safe for concurrent use.
type Clock struct {
	mu   sync.Mutex
	now  time.Time
	last time.Time // of the recording
}

// The steps from one call to the next. A time that is missing or runs backwards,
// as between two files, counts as the least step.
const (
	leastStep = time.Second
	mostStep  = time.Hour
)

// NewClock makes a clock at a fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)} }

// Now gives the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock on to a call that was recorded at t.
func (c *Clock) advance(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	step := leastStep
	if !t.IsZero() && !c.last.IsZero() {
		step = min(max(t.Sub(c.last), leastStep), mostStep)
	}
	c.now = c.now.Add(step)
	c.last = t
}
