package llm

import (
	"errors"
	"maps"
	"net/http"
	"time"

	"memoryd"
)

// errPaused is why a request was not sent.
var errPaused = errors.New("the server wants no requests for longer than a request may take")

// release ends an attempt: it books what was used, learns from how it went, and
// lets the next ones go.
func (l *limiter) release(j *job, t *ticket, f *fault, usage memoryd.Usage, h http.Header) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	e := t.endpoint
	l.stats.Outcomes[f.outcome()]++
	l.stats.PromptTokens += int64(usage.PromptTokens)
	l.stats.CompletionTokens += int64(usage.CompletionTokens)
	switch {
	case usage.PromptTokens > 0:
		e.settle(now, t, j.queue.estimate.learn(j.bytes, t.tokens, usage))
	case f != nil && f.class == refused:
		e.settle(now, t, 0)
	}
	if h != nil {
		e.hear(now, t, h)
	}
	l.judge(now, t, f)
	e.inFlight--
	l.dispatch()
}

// judge draws the consequences of an attempt for model and server.
func (l *limiter) judge(now time.Time, t *ticket, f *fault) {
	e := t.endpoint
	switch {
	case f == nil, f.class == final, f.class == badReply, f.class == cut, f.class == adapt:
		e.served()
		l.lift(now, t)
		if f != nil && f.class == adapt {
			l.adapt(t, f)
		}
	case f.class == refused:
		e.refuse(now, t, f.after)
		l.lift(now, t)
		if d := e.pause.Sub(now); f.after > 0 && d > longPause {
			l.log.Warn("the model's server asks for a long pause", "model", e.model, "pause", d.Round(time.Second))
		}
	case f.class == transient:
		if d, open := e.fail(now, t, f); open {
			l.stop(&e.breaker, e, breakerReason(e), f, now, d)
		}
		if l.breaker.tripped() && !t.at.Before(l.breaker.until) {
			l.breaker.until = now.Add(min(l.cfg.ProbeInterval, breakerLongest))
		}
	case f.class == stopModel:
		l.stop(&e.breaker, e, ReasonUnknownModel, f, now, l.cfg.ProbeInterval)
	case f.class == stopAll:
		l.stop(&l.breaker, e, f.health, f, now, l.cfg.ProbeInterval)
	}
}

// breakerReason keeps the reason of a model whose probe failed in another way.
func breakerReason(e *endpoint) string {
	if e.breaker.tripped() {
		return e.breaker.reason
	}
	return ReasonBreakerOpen
}

// stop opens a breaker, or keeps it open, and says so once.
func (l *limiter) stop(h *breaker, e *endpoint, reason string, f *fault, now time.Time, d time.Duration) {
	if h.open(reason, f, now, d) {
		l.log.Error("the model is not asked for now", "model", e.model, "reason", reason, "next", d.Round(time.Second), "err", f.err)
	}
}

// lift closes the breakers that the attempt disproves.
func (l *limiter) lift(now time.Time, t *ticket) {
	endpoint, model := l.breaker.lift(t.at), t.endpoint.breaker.lift(t.at)
	if endpoint || model {
		l.okFrom = now
		l.log.Info("the model answers again", "model", t.endpoint.model)
	}
}

// adapt remembers the form of request to use from now on, unless another
// request found out before.
func (l *limiter) adapt(t *ticket, f *fault) {
	e, ok := errors.AsType[*adaptError](f.err)
	if !ok || t.endpoint.dialect != t.dialect {
		return
	}
	t.endpoint.dialect = e.next
	l.log.Info("the model's server needs another form of request", "model", t.endpoint.model, "err", f.err)
}

// withdraw pays for a retry from the budget.
func (l *limiter) withdraw() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.budget.withdraw(time.Now())
}

// count notes the start of a request.
func (l *limiter) count(t *ticket) {
	l.stats.Requests++
	if t.again {
		l.stats.Retries++
	}
	if t.waited > 0 {
		l.stats.Waits++
		l.stats.Waited += t.waited
	}
}

// uncount takes back the count of a ticket that was not used.
func (l *limiter) uncount(t *ticket) {
	l.stats.Requests--
	if t.again {
		l.stats.Retries--
	}
}

func (l *limiter) snapshot() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Outcomes = maps.Clone(s.Outcomes)
	s.Queued, s.InFlight, s.Concurrency = l.queued, l.inFlight(), l.endpoints[0].window.limit
	return s
}

func (l *limiter) resting() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	e, err := l.usable(now)
	if err != nil {
		return 0
	}
	return e.blocked(now)
}

func (l *limiter) health() Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	e := l.endpoints[0]
	switch {
	case l.breaker.tripped():
		return l.breaker.health()
	case e.breaker.tripped():
		return e.breaker.health()
	case e.blocked(now) > longPause:
		return Health{Status: HealthDegraded, Reason: ReasonRateLimited, Since: now, Until: now.Add(e.blocked(now))}
	}
	return Health{Status: HealthOK, Since: l.okFrom}
}

// The retry budget: a tenth of the first attempts, and one per ten seconds
// whatever the traffic, so that an outage is never answered by a storm. It
// begins with a few, or a lone first request could not retry.
const (
	budgetShare = 0.1
	budgetStart = 5
	budgetMost  = 20
	budgetFloor = 10 * time.Second
)

// budget pays for retries. Not safe for concurrent use.
type budget struct {
	balance float64
	floorAt time.Time // when the floor may pay again
}

// deposit notes a first attempt.
func (b *budget) deposit() { b.balance = min(budgetMost, b.balance+budgetShare) }

// withdraw pays for one retry, or reports that it cannot.
func (b *budget) withdraw(now time.Time) bool {
	if b.balance >= 1 {
		b.balance--
		return true
	}
	if now.Before(b.floorAt) {
		return false
	}
	b.floorAt = now.Add(budgetFloor)
	return true
}
