package llm

import (
	"time"

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
