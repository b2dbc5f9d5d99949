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
func (g *gate) release(j *job, t *ticket, f *fault, usage memoryd.Usage, h http.Header) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	l := t.lane
	g.stats.Outcomes[f.outcome()]++
	g.stats.PromptTokens += int64(usage.PromptTokens)
	g.stats.CompletionTokens += int64(usage.CompletionTokens)
	switch {
	case usage.PromptTokens > 0:
		l.settle(now, t, j.queue.estimate.learn(j.bytes, t.tokens, usage))
	case f != nil && f.class == refused:
		l.settle(now, t, 0)
	}
	if h != nil {
		l.hear(now, t, h)
	}
	g.judge(now, t, f)
	l.inFlight--
	g.dispatch()
}

// judge draws the consequences of an attempt for model and endpoint.
func (g *gate) judge(now time.Time, t *ticket, f *fault) {
	l := t.lane
	switch {
	case f == nil, f.class == final, f.class == badReply, f.class == cut, f.class == adapt:
		l.served()
		g.lift(now, t)
		if f != nil && f.class == adapt {
			g.adapt(t, f)
		}
	case f.class == refused:
		l.refuse(now, t, f.after)
		g.lift(now, t)
		if d := l.pause.Sub(now); f.after > 0 && d > longPause {
			g.log.Warn("the model's server asks for a long pause", "model", l.model, "pause", d.Round(time.Second))
		}
	case f.class == transient:
		if d, open := l.fail(now, t, f); open {
			g.stop(&l.halt, l, breakerReason(l), f, now, d)
		}
		if g.halt.on() && !t.at.Before(g.halt.until) {
			g.halt.until = now.Add(min(g.cfg.ProbeInterval, breakerLongest))
		}
	case f.class == stopModel:
		g.stop(&l.halt, l, ReasonUnknownModel, f, now, g.cfg.ProbeInterval)
	case f.class == stopAll:
		g.stop(&g.halt, l, f.health, f, now, g.cfg.ProbeInterval)
	}
}

// breakerReason keeps the reason of a model whose probe failed in another way.
func breakerReason(l *lane) string {
	if l.halt.on() {
		return l.halt.reason
	}
	return ReasonBreakerOpen
}

// stop begins or prolongs a halt and says so once.
func (g *gate) stop(h *halt, l *lane, reason string, f *fault, now time.Time, d time.Duration) {
	if h.set(reason, f, now, d) {
		g.log.Error("the model is not asked for now", "model", l.model, "reason", reason, "next", d.Round(time.Second), "err", f.err)
	}
}

// lift ends the halts that the attempt disproves.
func (g *gate) lift(now time.Time, t *ticket) {
	endpoint, model := g.halt.lift(t.at), t.lane.halt.lift(t.at)
	if endpoint || model {
		g.okFrom = now
		g.log.Info("the model answers again", "model", t.lane.model)
	}
}

// adapt remembers the form of request to use from now on, unless another
// request found out before.
func (g *gate) adapt(t *ticket, f *fault) {
	e, ok := errors.AsType[*adaptError](f.err)
	if !ok || t.lane.dialect != t.dialect {
		return
	}
	t.lane.dialect = e.next
	g.log.Info("the model's server needs another form of request", "model", t.lane.model, "err", f.err)
}

// withdraw pays for a retry from the budget.
func (g *gate) withdraw() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.budget.withdraw(time.Now())
}

// count notes the start of a request.
func (g *gate) count(t *ticket) {
	g.stats.Requests++
	if t.again {
		g.stats.Retries++
	}
	if t.waited > 0 {
		g.stats.Waits++
		g.stats.Waited += t.waited
	}
}

// uncount takes back the count of a ticket that was not used.
func (g *gate) uncount(t *ticket) {
	g.stats.Requests--
	if t.again {
		g.stats.Retries--
	}
}

func (g *gate) snapshot() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Outcomes = maps.Clone(s.Outcomes)
	s.Queued, s.InFlight, s.Concurrency = g.queued, g.inFlight(), g.lanes[0].window.limit
	return s
}

func (g *gate) health() Health {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	l := g.lanes[0]
	switch {
	case g.halt.on():
		return g.halt.health()
	case l.halt.on():
		return l.halt.health()
	case l.blocked(now) > longPause:
		return Health{Status: HealthDegraded, Reason: ReasonRateLimited, Since: now, Until: now.Add(l.blocked(now))}
	}
	return Health{Status: HealthOK, Since: g.okFrom}
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
