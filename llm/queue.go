package llm

import (
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"

	"golang.org/x/time/rate"
)

// job is one request of a caller while it waits or runs.
type job struct {
	queue     *opQueue
	place     *fairqueue.Entry[*job] // nil: not queued yet
	workspace string
	bytes     int // of prompt
	maxTokens int

	tried   bool // had a ticket before
	since   time.Time
	granted chan grant // holds one
}

// grant ends a job's wait: a ticket, or why there will be none.
type grant struct {
	ticket *ticket
	err    error
}

// opQueue is the line of one op, fair between workspaces. All lines of a client
// share a clock.
type opQueue struct {
	name     string
	spacing  *rate.Limiter // nil: none
	jobs     *fairqueue.Queue[*job]
	estimate estimator
}

func newOpQueue(name string, spacing time.Duration, clock *fairqueue.Clock) *opQueue {
	q := &opQueue{name: name, jobs: fairqueue.New[*job](clock), estimate: newEstimator()}
	if spacing > 0 {
		q.spacing = rate.NewLimiter(rate.Every(spacing), 1)
	}
	return q
}

// push puts a job into the line. A job that comes back keeps its turn.
func (q *opQueue) push(j *job) {
	if j.place != nil {
		q.jobs.Return(j.place)
		return
	}
	// Not what the op has learnt: requests of one size cost the same whenever
	// they came.
	j.place = q.jobs.Push(j.workspace, startPerByte*float64(j.bytes)+startAnswer, j)
}

// spaced says how long the op's spacing makes the next start wait.
func (q *opQueue) spaced(now time.Time) time.Duration {
	if q.spacing == nil {
		return 0
	}
	r := q.spacing.ReserveN(now, 1)
	defer r.CancelAt(now)
	return r.DelayFrom(now)
}

// start uses the op's spacing.
func (q *opQueue) start(now time.Time) {
	if q.spacing != nil {
		q.spacing.ReserveN(now, 1)
	}
}

// What a request is thought to cost before the server said.
const (
	startPerByte = 0.27 // tokens a byte of prompt; four bytes a token, and a little more
	startAnswer  = 256  // tokens of an answer, if its cap is not lower
	forget       = 0.1  // weight of the newest observation
)

// estimator guesses the tokens of an op's requests from what earlier ones took.
// Not safe for concurrent use.
type estimator struct {
	perByte float64
	answer  float64 // 0: none seen yet
}

func newEstimator() estimator { return estimator{perByte: startPerByte} }

// tokens guesses prompt and answer together. maxTokens 0 means no cap.
func (e *estimator) tokens(promptBytes, maxTokens int) float64 {
	answer := e.answer
	if answer == 0 {
		answer = startAnswer
	}
	if maxTokens > 0 {
		answer = min(answer, float64(maxTokens))
	}
	return max(1, e.perByte*float64(promptBytes)+answer)
}

// learn takes the server's count of a request and gives the tokens to book.
// A count that cannot be is not believed: then the guess stands.
func (e *estimator) learn(promptBytes int, guess float64, u memoryd.Usage) float64 {
	if u.PromptTokens <= 0 || u.PromptTokens > 2*promptBytes+1000 || u.CompletionTokens > 1<<20 {
		return guess
	}
	if promptBytes > 0 {
		e.perByte += forget * (min(1, float64(u.PromptTokens)/float64(promptBytes)) - e.perByte)
	}
	if e.answer == 0 {
		e.answer = float64(u.CompletionTokens) + 1
	}
	e.answer += forget * (float64(u.CompletionTokens) - e.answer)
	return float64(u.PromptTokens + u.CompletionTokens)
}
