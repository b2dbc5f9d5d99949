package compact

import (
	"math"
	"sync"

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
	// maxLearned bounds how many models are remembered.
	maxLearned = 256
)

// factors holds the learned factors by model. It is safe for concurrent use.
type factors struct {
	mu sync.Mutex
	by map[string]float64
}

func (f *factors) of(model string) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if x, ok := f.by[model]; ok {
		return x
	}
	return 1
}

// learn notes that a conversation counted as estimated with the factor now in use
// was reported as reported.
func (f *factors) learn(model string, estimated, reported int) {
	if tokens.Known(model) || estimated < leastLesson || reported <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now, ok := f.by[model]
	if !ok {
		now = 1
	}
	x := now * float64(reported) / float64(estimated)
	if x < leastFactor || x > mostFactor || !ok && len(f.by) >= maxLearned {
		return
	}
	f.by[model] = now + lessonWeight*(x-now)
}

// scaled is a counter whose counts are multiplied.
type scaled struct {
	tokens.Counter
	by float64
}

// Count implements tokens.Counter.
func (s scaled) Count(text string) int {
	return int(math.Ceil(float64(s.Counter.Count(text)) * s.by))
}

// counterFor is the counter for a model, with what was learned of it.
func (c *Compactor) counterFor(model string) tokens.Counter {
	counter := c.counter(model)
	if by := c.learned.of(model); by != 1 {
		return scaled{counter, by}
	}
	return counter
}
