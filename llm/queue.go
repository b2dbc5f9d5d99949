package llm

import (
	"container/heap"
	"time"

	"golang.org/x/time/rate"
)

// job is one request of a caller while it waits or runs.
type job struct {
	queue     *opQueue
	flow      *flow
	workspace string
	bytes     int // of prompt
	maxTokens int

	tag     float64 // virtual start time: the smaller, the earlier
	cost    float64
	order   uint64 // ties go by arrival
	index   int    // place in the heap; -1: not queued
	tried   bool   // had a ticket before
	since   time.Time
	granted chan grant // holds one
}

// grant ends a job's wait: a ticket, or why there will be none.
type grant struct {
	ticket *ticket
	err    error
}

// flow is the service that one workspace had from one op, in virtual time.
type flow struct {
	last   float64 // where its next job starts
	queued int
}

// opQueue is the line of one op, in start-time fair order (Goyal, Vin, Cheng:
// Start-time Fair Queuing, 1996): a job's tag is where its workspace's previous
// job ends, or the present virtual time if that is later. So whoever was served
// least is next, a newcomer starts level with the others, idle time earns no
// credit, and ten thousand jobs of one workspace cost another one place.
type opQueue struct {
	name     string
	spacing  *rate.Limiter // nil: none
	jobs     jobHeap
	flows    map[string]*flow
	sweepAt  int // number of flows at which idle ones are dropped
	estimate estimator
}

const leastSweep = 64

func newOpQueue(name string, spacing time.Duration) *opQueue {
	q := &opQueue{name: name, flows: map[string]*flow{}, sweepAt: leastSweep, estimate: newEstimator()}
	if spacing > 0 {
		q.spacing = rate.NewLimiter(rate.Every(spacing), 1)
	}
	return q
}

// place gives a new job its tag at virtual time clock.
func (q *opQueue) place(j *job, clock float64) {
	f := q.flow(j.workspace, clock)
	// Not what the op has learnt: requests of one size cost the same whenever
	// they came.
	j.cost = startPerByte*float64(j.bytes) + startAnswer
	f.last = max(f.last, clock)
	j.tag = f.last
	f.last += j.cost
}

// push puts a placed job into the line. A job that comes back keeps its tag
// and so its turn.
func (q *opQueue) push(j *job, clock float64) {
	j.flow = q.flow(j.workspace, clock)
	j.flow.queued++
	heap.Push(&q.jobs, j)
}

// remove takes a job out of the line.
func (q *opQueue) remove(j *job) {
	heap.Remove(&q.jobs, j.index)
	j.flow.queued--
}

// withdraw removes a job that will never run and uncharges its workspace.
func (q *opQueue) withdraw(j *job) {
	q.remove(j)
	if !j.tried {
		j.flow.last -= j.cost
	}
}

// flow finds or makes the workspace's flow; now and then it forgets those that
// neither wait nor are ahead of the clock.
func (q *opQueue) flow(workspace string, clock float64) *flow {
	if f := q.flows[workspace]; f != nil {
		return f
	}
	if len(q.flows) >= q.sweepAt {
		for name, f := range q.flows {
			if f.queued == 0 && f.last <= clock {
				delete(q.flows, name)
			}
		}
		q.sweepAt = max(leastSweep, 2*len(q.flows))
	}
	f := &flow{last: clock}
	q.flows[workspace] = f
	return f
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

// last is the job at the far end of the line; nil when it is empty.
func (q *opQueue) last() *job {
	var last *job
	for _, j := range q.jobs {
		if last == nil || last.before(j) {
			last = j
		}
	}
	return last
}

// before reports whether j comes before k.
func (j *job) before(k *job) bool {
	return j.tag < k.tag || (j.tag == k.tag && j.order < k.order)
}

// jobHeap is a heap.Interface, the next job first.
type jobHeap []*job

// Len implements heap.Interface.
func (h jobHeap) Len() int { return len(h) }

// Less implements heap.Interface.
func (h jobHeap) Less(i, k int) bool { return h[i].before(h[k]) }

// Swap implements heap.Interface.
func (h jobHeap) Swap(i, k int) {
	h[i], h[k] = h[k], h[i]
	h[i].index, h[k].index = i, k
}

// Push implements heap.Interface.
func (h *jobHeap) Push(x any) {
	j := x.(*job)
	j.index = len(*h)
	*h = append(*h, j)
}

// Pop implements heap.Interface.
func (h *jobHeap) Pop() any {
	old := *h
	j := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	j.index = -1
	return j
}
