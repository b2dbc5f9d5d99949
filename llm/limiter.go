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

// limiter decides who may send a request and when. It has no goroutine: callers
// wait on their own channel, and whoever changes something (joins, leaves, ends
// a request, or the one timer) runs dispatch.
type limiter struct {
	cfg Config
	log *slog.Logger

	mu        sync.Mutex
	ops       []*opQueue
	endpoints []*endpoint
	breaker   breaker // of the whole server
	clock     fairqueue.Clock
	queued    int
	budget    budget
	timer     *time.Timer
	closed    bool
	stats     Stats
}

func newLimiter(cfg Config, log *slog.Logger) *limiter {
	now := time.Now()
	l := &limiter{cfg: cfg, log: log, budget: budget{balance: budgetStart}}
	for _, model := range append([]string{cfg.ModelName}, cfg.FallbackModels...) {
		l.endpoints = append(l.endpoints, newEndpoint(cfg, model, now))
	}
	return l
}

// acquire waits for j's turn. It fails when ctx ends, the queue is full, the
// client is closed, or no model can be asked within the total timeout.
func (l *limiter) acquire(ctx context.Context, j *job) (*permit, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	if err := l.join(j); err != nil {
		return nil, err
	}
	select {
	case got := <-j.granted:
		return got.permit, got.err
	case <-ctx.Done():
		l.leave(j)
		return nil, context.Cause(ctx)
	}
}

// join puts j into the line.
func (l *limiter) join(j *job) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	j.since = time.Now()
	j.queue.push(j)
	l.queued++
	if l.queued > l.cfg.MaxQueue {
		l.turnAway(l.last(), &memoryd.ModelError{
			Reason: "rate_limited", Temporary: true, RetryAfter: 10 * time.Second,
			Err: memoryd.Wrap(memoryd.Overloaded, errors.New("llm: queue full"), "too many requests are waiting for the model"),
		})
	}
	l.dispatch()
	return nil
}

// last is the job at the far end of the line, which belongs to whoever waits with
// the most.
func (l *limiter) last() *job {
	var last *fairqueue.Entry[*job]
	for _, q := range l.ops {
		if e := q.jobs.Last(); e != nil && (last == nil || last.Before(e)) {
			last = e
		}
	}
	return last.Value
}

// turnAway ends a waiting job without a permit.
func (l *limiter) turnAway(j *job, err error) {
	j.queue.jobs.Withdraw(j.place)
	l.queued--
	j.granted <- grant{err: err}
}

// leave takes back a wait that its caller gave up; a permit that came just then
// is returned unused.
func (l *limiter) leave(j *job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if j.queue.jobs.Withdraw(j.place) {
		l.queued--
		l.dispatch()
		return
	}
	if got := <-j.granted; got.permit != nil {
		got.permit.endpoint.inFlight--
		if got.permit.retried {
			l.stats.Retries--
		}
		l.dispatch()
	}
}

// close turns away all who wait.
func (l *limiter) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.failAll(errClosed)
	l.dispatch()
}

func (l *limiter) failAll(err error) {
	for _, q := range l.ops {
		for e := q.jobs.First(); e != nil; e = q.jobs.First() {
			l.turnAway(e.Value, err)
		}
	}
}

// dispatch starts every request that may start now, and arms the timer when
// only time is missing for the next one.
func (l *limiter) dispatch() {
	for l.queued > 0 {
		now := time.Now()
		e, err := l.usable(now)
		if err != nil {
			l.failAll(err)
			break
		}
		q, wait := l.nextOp(now)
		if q == nil {
			l.wake(wait)
			return
		}
		j := q.jobs.First().Value
		tokens := estimated(j.bytes, j.maxTokens)
		if wait = e.ready(now, tokens); wait == 0 && l.breaker.tripped() && l.inFlight() > 0 {
			wait = untilFree
		}
		if wait != 0 {
			l.wake(wait)
			return
		}
		l.start(j, e, tokens, now)
	}
	l.rest()
}

// rest is the limiter with nobody waiting: who was served how much is forgotten,
// and so is the measurement of a rate.
func (l *limiter) rest() {
	for _, q := range l.ops {
		q.jobs.Forget()
	}
	for _, e := range l.endpoints {
		e.pacer.idle()
	}
	l.wake(untilFree)
}

// start sends a job on its way.
func (l *limiter) start(j *job, e *endpoint, tokens float64, now time.Time) {
	j.queue.jobs.Serve(j.place)
	l.queued--
	j.queue.spacing.ReserveN(now, 1)
	t := e.start(now, tokens)
	t.waited, t.retried = now.Sub(j.since), j.tried
	if t.retried {
		l.stats.Retries++
	}
	if !j.tried {
		l.budget.deposit()
	}
	j.tried = true
	j.granted <- grant{permit: t}
}

// usable is the first model that can be asked: one that is not stopped and that
// the server does not hold back for longer than a moment. When all are held
// back, it is the one that comes back first, if that is worth waiting for.
func (l *limiter) usable(now time.Time) (*endpoint, error) {
	if l.breaker.blocks(now) {
		return nil, l.breaker.fault.modelError(l.breaker.until.Sub(now))
	}
	var best *endpoint
	for _, e := range l.endpoints {
		if e.breaker.blocks(now) {
			continue
		}
		probed := e.breaker.tripped() && e.inFlight > 0
		if !probed && e.blocked(now) <= l.cfg.FallbackAfter {
			return e, nil
		}
		if best == nil || e.blocked(now) < best.blocked(now) {
			best = e
		}
	}
	if best == nil {
		e := l.endpoints[0]
		return nil, e.breaker.fault.modelError(e.breaker.until.Sub(now))
	}
	if d := best.blocked(now); d > l.cfg.TotalTimeout {
		return nil, &memoryd.ModelError{Reason: "rate_limited", Temporary: true, RetryAfter: d, Err: errPaused}
	}
	return best, nil
}

// nextOp is the op whose first job comes first among those whose spacing allows
// a start; nil and the shortest wait when there is none.
func (l *limiter) nextOp(now time.Time) (*opQueue, time.Duration) {
	var next *opQueue
	shortest := time.Duration(-1)
	for _, q := range l.ops {
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
func (l *limiter) wake(d time.Duration) {
	if d < 0 {
		if l.timer != nil {
			l.timer.Stop()
		}
		return
	}
	if l.timer == nil {
		l.timer = time.AfterFunc(d, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.dispatch()
		})
		return
	}
	l.timer.Reset(d)
}

func (l *limiter) inFlight() int {
	n := 0
	for _, e := range l.endpoints {
		n += e.inFlight
	}
	return n
}
