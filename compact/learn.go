package compact

import (
	"cmp"
	"time"

	"memoryd/compact/tokens"
)

// A model whose tokenizer nobody here knows is estimated. What its provider
// reports for a request says how far the estimate is off; the factor is learned
// from that, for those models only.

// Bounds of what is believed. A report outside of them counts something else than
// the messages, such as a hidden system prompt.
const (
	leastFactor = 0.5
	mostFactor  = 2.5
	// leastLesson is the smallest conversation that teaches, in tokens.
	leastLesson = 200
	// lessonWeight is how much the newest report counts.
	lessonWeight = 0.3
	// learnedKept bounds how many models are remembered, and for how long.
	learnedKept, learnedFor = 256, 30 * 24 * time.Hour
)

// learn notes that a conversation counted as estimated with the factor now in use
// was reported as reported.
func (c *Compactor) learn(model string, estimated, reported int) {
	if tokens.Known(model) || estimated < leastLesson || reported <= 0 {
		return
	}
	now, _ := c.learned.get(model)
	now = cmp.Or(now, 1)
	if x := now * float64(reported) / float64(estimated); x >= leastFactor && x <= mostFactor {
		c.learned.put(model, now+lessonWeight*(x-now))
	}
}

// counterFor is the counter for a model, with what was learned of it.
func (c *Compactor) counterFor(model string) tokens.Counter {
	if c.counter != nil {
		return c.counter(model)
	}
	e := tokens.ForModel(model)
	if by, ok := c.learned.get(model); ok {
		e.Factor *= by
	}
	return e
}
