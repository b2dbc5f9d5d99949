package evaluate

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/internal/fairqueue"
	"memoryd/internal/lifecycle"
)

// job is a stored call in hand. Its fields do not change, except spent, and
// result, which is set before done is closed.
type job struct {
	ref memoryd.ToolRef
	key memoryd.CallKey
	opinion
	// source is who recorded the call. Of jobs with the same like one is judged, and the others
	// take its evaluation.
	source string
	like   [16]byte
	// metadata are the call's.
	metadata json.RawMessage
	// before is the evaluation that the store has: the earlier attempts.
	before memoryd.Evaluation
	// spent is what this try cost so far; it belongs to the worker that has the
	// job.
	spent memoryd.Cost
	// from is the request that brought the call, for its values only (a trace to
	// go on with); nil when the sweep brought it.
	from context.Context

	// until is when other processes may take the call; zero: nobody holds it. It
	// belongs to the queue.
	until time.Time

	once   sync.Once
	done   chan struct{}
	result memoryd.Evaluation
}

// jobID is a call's identity among all calls in hand.
type jobID struct {
	workspace string
	key       memoryd.CallKey
}

func (j *job) id() jobID { return jobID{j.ref.Workspace, j.key} }

// finish releases who waits for the job. Only the first counts: a worker that
// outlived Stop comes too late.
func (j *job) finish(e memoryd.Evaluation) {
	j.once.Do(func() {
		j.result = e
		close(j.done)
	})
}

// queue holds the calls in hand, at most size of them. They are served fairly
// between workspaces (see fairqueue), so that one with ten thousand calls does not
// keep another waiting; within a workspace the first comes first. Of calls that would get the same evaluation only
// one waits to be judged, the others join it.
type queue struct {
	size int

	mu       sync.Mutex
	wake     *sync.Cond
	closed   bool
	inHand   map[jobID]*job
	leaders  map[[16]byte]*job
	joined   map[*job][]*job
	line     *fairqueue.Queue[*job]
	hungry   bool
	drained  chan struct{} // gets a token when the queue has run low and hungry was set
	lowWater int
}

func newQueue(size int) *queue {
	q := &queue{
		size: size, inHand: map[jobID]*job{}, leaders: map[[16]byte]*job{}, joined: map[*job][]*job{},
		line: fairqueue.New[*job](nil), drained: make(chan struct{}, 1),
		lowWater: size / 4,
	}
	q.wake = sync.NewCond(&q.mu)
	return q
}

// add takes j in. It gives the job to wait for: j, or the one that is in hand
// for the same call already; nil when the queue is full or closed. joined is
// true when j waits for the evaluation of an equal call.
func (q *queue) add(j *job) (in *job, joined bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if same, ok := q.inHand[j.id()]; ok {
		return same, false
	}
	if q.closed || len(q.inHand) >= q.size {
		return nil, false
	}
	q.inHand[j.id()] = j
	if leader, ok := q.leaders[j.like]; ok {
		q.joined[leader] = append(q.joined[leader], j)
		return j, true
	}
	q.leaders[j.like] = j
	q.line.Push(j.ref.Workspace, 1, j)
	q.wake.Signal()
	return j, false
}

// has reports whether the call, or one that will get the same evaluation, is in hand.
func (q *queue) has(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.inHand[j.id()] != nil || q.leaders[j.like] != nil
}

// hold reports whether the call is in hand, and notes until when the store keeps
// it from other processes.
func (q *queue) hold(id jobID, until time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.inHand[id]
	if j != nil {
		j.until = until
	}
	return j != nil
}

// lapsed reports whether another process may have taken the call.
func (q *queue) lapsed(j *job, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !j.until.IsZero() && !now.Before(j.until)
}

// next waits for the next job. It gives nil when the queue is closed.
func (q *queue) next() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.line.Len() == 0 && !q.closed {
		q.wake.Wait()
	}
	if q.closed {
		return nil
	}
	first := q.line.First()
	q.line.Serve(first)
	if q.line.Len() == 0 {
		q.line.Forget()
	}
	return first.Value
}

// done lets j go and gives the jobs that had joined it, which are let go too. A
// job that was never in the queue changes nothing.
func (q *queue) done(j *job) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	joined := q.joined[j]
	delete(q.joined, j)
	if q.leaders[j.like] == j {
		delete(q.leaders, j.like)
	}
	if q.inHand[j.id()] == j {
		delete(q.inHand, j.id())
	}
	for _, f := range joined {
		delete(q.inHand, f.id())
	}
	if q.hungry && len(q.inHand) <= q.lowWater {
		q.hungry = false
		select {
		case q.drained <- struct{}{}:
		default:
		}
	}
	return joined
}

// room is how many more jobs the queue takes.
func (q *queue) room() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	return q.size - len(q.inHand)
}

// callWhenLow asks for a token in drained once the queue has run low.
func (q *queue) callWhenLow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.hungry = true
}

func (q *queue) depth() (queued, inHand int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.line.Len(), len(q.inHand)
}

// close turns away who waits for a job and whoever comes later.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.wake.Broadcast()
}

// rest gives what is still in hand after the workers have ended, and lets it go.
func (q *queue) rest() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var left []*job
	for _, j := range q.inHand {
		left = append(left, j)
	}
	clear(q.inHand)
	clear(q.leaders)
	clear(q.joined)
	q.line = fairqueue.New[*job](nil)
	return left
}

// outcome is what a worker found out about a job: an evaluation of the model, fresh
// or from the cache, or why there is none.
type outcome struct {
	j      *job
	known  // its evaluation
	cached bool
	kind   *kinds.Verdict // on the kind of its output, reached while it waited
	err    error
}

// work judges jobs until the queue is closed.
func (d *Evaluator) work(ctx context.Context) {
	for {
		j := d.queue.next()
		if j == nil {
			return
		}
		if !d.stillOurs(ctx, j) {
			continue
		}
		if o := d.judgeJob(ctx, j); o.err == nil || ctx.Err() == nil { // else Stop puts it back
			d.conclude(ctx, o)
		}
	}
}

// judgeJob finds an evaluation for a job: in the cache, else from the model.
func (d *Evaluator) judgeJob(ctx context.Context, j *job) outcome {
	if k, ok := d.cache.find(ctx, j.cache, d.now()); ok {
		return outcome{j: j, known: k, cached: true}
	}
	if v := d.reached(ctx, j); v != nil {
		return outcome{j: j, kind: v}
	}
	o := d.askSafely(ctx, j)
	if o.err == nil {
		d.keep(ctx, o)
	}
	return o
}

// askSafely turns a panic into a failed try: a defect in reading one reply must not end the
// worker.
func (d *Evaluator) askSafely(ctx context.Context, j *job) (o outcome) {
	log := d.log.With("workspace", j.ref.Workspace, "tool", j.ref.Tool)
	err := lifecycle.Do(ctx, log, "judging", func() error {
		o = d.askModel(ctx, j, d.examples(ctx, j.ref))
		return nil
	})
	if err != nil {
		return outcome{j: j, err: &memoryd.ModelError{Reason: reasonInternal, Err: err}}
	}
	return o
}

func (d *Evaluator) examples(ctx context.Context, ref memoryd.ToolRef) (list []example) {
	if d.cfg.EarlierVerdicts > 0 {
		// Without the history there are no examples, which does no harm.
		_ = d.profiles.with(ctx, ref, func(p *profile) { list = p.examples(d.cfg.EarlierVerdicts) })
	}
	return list
}
