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

// dispatch starts every request that may start now, and arms the timer when
// only time is missing for the next one.
func (g *gate) dispatch() {
	for g.queued > 0 {
		now := time.Now()
		l, err := g.usable(now)
		if err != nil {
			g.failAll(err)
			break
		}
		q, wait := g.nextOp(now)
		if q == nil {
			g.wake(wait)
			return
		}
		j := q.jobs.First().Value
		tokens := q.estimate.tokens(j.bytes, j.maxTokens)
		if wait = l.ready(now, tokens); wait == 0 && g.halt.on() && g.inFlight() > 0 {
			wait = untilFree
		}
		if wait != 0 {
			g.wake(wait)
			return
		}
		g.start(j, l, tokens, now)
	}
	g.rest()
}

// rest is the gate with nobody waiting: who was served how much is forgotten,
// and so is the measurement of a rate.
func (g *gate) rest() {
	for _, q := range g.ops {
		q.jobs.Forget()
	}
	for _, l := range g.lanes {
		l.pacer.idle()
	}
	g.wake(untilFree)
}

// start sends a job on its way.
func (g *gate) start(j *job, l *lane, tokens float64, now time.Time) {
	j.queue.jobs.Take(j.place)
	g.queued--
	j.queue.start(now)
	t := l.start(now, tokens)
	t.waited, t.again = now.Sub(j.since), j.tried
	g.count(t)
	if !j.tried {
		g.budget.deposit()
	}
	j.tried = true
	j.granted <- grant{ticket: t}
}

// usable is the first model that can be asked: one that is not stopped and that
// the server does not hold back for longer than a moment. When all are held
// back, it is the one that comes back first, if that is worth waiting for.
func (g *gate) usable(now time.Time) (*lane, error) {
	if g.halt.closed(now) {
		return nil, g.halt.fault.modelError(g.halt.until.Sub(now))
	}
	var best *lane
	for _, l := range g.lanes {
		if l.halt.closed(now) {
			continue
		}
		probed := l.halt.on() && l.inFlight > 0
		if !probed && l.blocked(now) <= g.cfg.FallbackAfter {
			return l, nil
		}
		if best == nil || l.blocked(now) < best.blocked(now) {
			best = l
		}
	}
	if best == nil {
		l := g.lanes[0]
		return nil, l.halt.fault.modelError(l.halt.until.Sub(now))
	}
	if d := best.blocked(now); d > g.cfg.TotalTimeout {
		return nil, &memoryd.ModelError{Reason: "rate_limited", Temporary: true, RetryAfter: d, Err: errPaused}
	}
	return best, nil
}

// nextOp is the op whose first job comes first among those whose spacing allows
// a start; nil and the shortest wait when there is none.
func (g *gate) nextOp(now time.Time) (*opQueue, time.Duration) {
	var next *opQueue
	shortest := time.Duration(-1)
	for _, q := range g.ops {
		if q.jobs.Len() == 0 {
			continue
		}
		if wait := q.spaced(now); wait > 0 {
			if shortest < 0 || wait < shortest {
				shortest = wait
			}
		} else if next == nil || q.jobs.First().Before(next.jobs.First()) {
			next = q
		}
	}
	return next, shortest
}

// wake arms the timer; untilFree disarms it.
func (g *gate) wake(d time.Duration) {
	if d < 0 {
		if g.timer != nil {
			g.timer.Stop()
		}
		return
	}
	if g.timer == nil {
		g.timer = time.AfterFunc(d, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			g.dispatch()
		})
		return
	}
	g.timer.Reset(d)
}

func (g *gate) inFlight() int {
	n := 0
	for _, l := range g.lanes {
		n += l.inFlight
	}
	return n
}
