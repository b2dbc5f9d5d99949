package llm

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"
)

// gate decides who may send a request and when. It has no goroutine: callers
// wait on their own channel, and whoever changes something (joins, leaves, ends
// a request, or the one timer) runs dispatch.
type gate struct {
	cfg Config
	log *slog.Logger

	mu     sync.Mutex
	ops    []*opQueue
	lanes  []*lane
	halt   halt // of the whole endpoint
	clock  fairqueue.Clock
	queued int
	budget budget
	timer  *time.Timer
	closed bool
	stats  Stats
	okFrom time.Time // when the state last became ok; zero: it always was
}

func newGate(cfg Config, log *slog.Logger) *gate {
	now := time.Now()
	g := &gate{cfg: cfg, log: log, budget: budget{balance: budgetStart}, stats: Stats{Outcomes: map[string]int64{}}}
	for _, model := range append([]string{cfg.ModelName}, cfg.FallbackModels...) {
		g.lanes = append(g.lanes, newLane(cfg, model, now))
	}
	return g
}

func (g *gate) addOp(name string, spacing time.Duration) *opQueue {
	g.mu.Lock()
	defer g.mu.Unlock()
	q := newOpQueue(name, spacing, &g.clock)
	g.ops = append(g.ops, q)
	return q
}

// acquire waits for j's turn. It fails when ctx ends, the queue is full, the
// client is closed, or no model can be asked within the total timeout.
func (g *gate) acquire(ctx context.Context, j *job) (*ticket, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := g.join(j); err != nil {
		return nil, err
	}
	select {
	case got := <-j.granted:
		return got.ticket, got.err
	case <-ctx.Done():
		g.leave(j)
		return nil, context.Cause(ctx)
	}
}

// join puts j into the line.
func (g *gate) join(j *job) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return errClosed
	}
	j.since = time.Now()
	j.queue.push(j)
	g.queued++
	if g.queued > g.cfg.MaxQueue {
		g.turnAway(g.last(), errFull())
	}
	g.dispatch()
	return nil
}

// last is the job at the far end of the line, which belongs to whoever waits with
// the most.
func (g *gate) last() *job {
	var last *fairqueue.Entry[*job]
	for _, q := range g.ops {
		if e := q.jobs.Last(); e != nil && (last == nil || last.Before(e)) {
			last = e
		}
	}
	return last.Value
}

// errFull is what a full queue answers.
func errFull() error {
	return &memoryd.ModelError{
		Reason: "rate_limited", Temporary: true, RetryAfter: 10 * time.Second,
		Err: memoryd.Wrap(memoryd.Overloaded, errors.New("llm: queue full"), "too many requests wait for the model"),
	}
}

// turnAway ends a waiting job without a ticket.
func (g *gate) turnAway(j *job, err error) {
	j.queue.jobs.Withdraw(j.place)
	g.queued--
	j.granted <- grant{err: err}
}

// leave takes back a wait that its caller gave up; a ticket that came just then
// is returned unused.
func (g *gate) leave(j *job) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if j.queue.jobs.Withdraw(j.place) {
		g.queued--
		g.dispatch()
		return
	}
	if got := <-j.granted; got.ticket != nil {
		got.ticket.lane.inFlight--
		g.uncount(got.ticket)
		g.dispatch()
	}
}

// close turns away all who wait.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.failAll(errClosed)
	g.dispatch()
}

func (g *gate) failAll(err error) {
	for _, q := range g.ops {
		for e := q.jobs.First(); e != nil; e = q.jobs.First() {
			g.turnAway(e.Value, err)
		}
	}
}
