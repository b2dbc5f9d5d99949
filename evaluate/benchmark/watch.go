package benchmark

import (
	"sync"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
)

// Watch is the rules judge of a run: it passes on what the rules say and
// remembers, for the calls in hand, whether they were sure. It is safe for
// concurrent use.
type Watch struct {
	rules evaluate.Rules

	mu   sync.Mutex
	seen map[memoryd.CallKey]rules.Verdict
}

var _ evaluate.Rules = (*Watch)(nil)

// NewWatch watches r.
func NewWatch(r evaluate.Rules) *Watch {
	return &Watch{rules: r, seen: map[memoryd.CallKey]rules.Verdict{}}
}

// Version is that of the rules.
func (w *Watch) Version() string { return w.rules.Version() }

// Judge rates c by the rules. The first verdict on a call is remembered: later
// ones may already know what became of it.
func (w *Watch) Judge(c *memoryd.Call, p *rules.Profile) rules.Verdict {
	v := w.rules.Judge(c, p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.seen[c.Key]; !known {
		w.seen[c.Key] = v
	}
	return v
}

// verdict gives what the rules said of a call in hand.
func (w *Watch) verdict(key memoryd.CallKey) (rules.Verdict, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.seen[key]
	return v, ok
}

// forget makes room for the next calls.
func (w *Watch) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.seen)
}
