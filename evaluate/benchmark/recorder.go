package benchmark

import (
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
)

// RulesRecorder is the rules judge of a run: it passes on what the rules say and
// remembers, for the calls in hand, whether they were sure. It is safe for
// concurrent use.
type RulesRecorder struct {
	rules evaluate.Rules

	mu   sync.Mutex
	seen map[memoryd.CallKey]rules.Result
}

var _ evaluate.Rules = (*RulesRecorder)(nil)

// NewRulesRecorder records r.
func NewRulesRecorder(r evaluate.Rules) *RulesRecorder {
	return &RulesRecorder{rules: r, seen: map[memoryd.CallKey]rules.Result{}}
}

// Version is that of the rules.
func (w *RulesRecorder) Version() string { return w.rules.Version() }

// Judge rates c by the rules. The first evaluation on a call is remembered: later
// ones may already know what became of it.
func (w *RulesRecorder) Judge(c *memoryd.Call, p *rules.Profile) rules.Result {
	v := w.rules.Judge(c, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.seen[c.Key]; !known {
		w.seen[c.Key] = v
	}
	return v
}

// evaluation gives what the rules said of a call in hand.
func (w *RulesRecorder) result(key memoryd.CallKey) (rules.Result, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.seen[key]
	return v, ok
}

// forget makes room for the next calls.
func (w *RulesRecorder) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.seen)
}

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
