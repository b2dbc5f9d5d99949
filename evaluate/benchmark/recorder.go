package benchmark

import (
	"sync"

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
