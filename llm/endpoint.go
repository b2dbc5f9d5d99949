package llm

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"time"

	"memoryd"
)

// The client's own waits.
const (
	refusalBackoff = time.Second       // first pause after a refusal that named none
	refusalMedium  = 16 * time.Second  // its upper bound at first: most limits are per minute
	refusalLongest = time.Minute       // its upper bound later
	refusalMany    = 20                // "later" is after so many in a row
	breakerFirst   = 5 * time.Second   // how long the breaker stays open first
	breakerLongest = time.Minute       // its upper bound
	pauseJitter    = 0.1               // of a named wait, added so that clients do not return at once
	jitterMost     = time.Second       // upper bound of that
	untilFree      = time.Duration(-1) // wait for a request to end, not for time to pass
)

// endpoint is one model at the server: everything that decides whether a request may
// start now. It is guarded by the limiter's lock.
type endpoint struct {
	model    string
	breakAt  int
	dialect  dialect
	requests bucket
	tokens   bucket
	pacer    pacer
	window   window
	breaker  breaker
	pause    time.Time // nothing starts before
	inFlight int
	failures int // in a row
	opened   int // how often in a row the breaker opened
	refusals int // in a row
}

// permit is the right to send one request.
type permit struct {
	endpoint *endpoint
	at       time.Time
	waited   time.Duration
	retried  bool
	dialect  dialect
	tokens   float64
}

func newEndpoint(cfg Config, model string, now time.Time) *endpoint {
	return &endpoint{
		model: model, breakAt: cfg.BreakerFailures, dialect: newDialect(model),
		window:   newWindow(cfg.MaxConcurrency, cfg.RequestsPerMinute > 0 || cfg.TokensPerMinute > 0),
		requests: newBucket(cfg.RequestsPerMinute, requestBurst, cfg.Burst, now),
		tokens:   newBucket(cfg.TokensPerMinute, tokenBurst, cfg.Burst, now),
	}
}

// blocked says for how long the server wants nothing from us.
func (e *endpoint) blocked(now time.Time) time.Duration {
	return max(0, e.pause.Sub(now))
}

// ready says how long a request of n tokens has to wait: 0 means it may start,
// untilFree that another must end first.
func (e *endpoint) ready(now time.Time, n float64) time.Duration {
	if e.inFlight >= e.window.limit || (e.breaker.tripped() && e.inFlight > 0) {
		return untilFree
	}
	return max(e.blocked(now), e.pacer.wait(now), e.requests.wait(now, 1), e.tokens.wait(now, n))
}

// start books a request of n tokens.
func (e *endpoint) start(now time.Time, n float64) *permit {
	e.inFlight++
	e.requests.take(now, 1)
	e.tokens.take(now, n)
	e.pacer.start(now)
	return &permit{endpoint: e, at: now, dialect: e.dialect, tokens: n}
}

// settle corrects the tokens that were booked at the start.
func (e *endpoint) settle(now time.Time, t *permit, tokens float64) {
	e.tokens.take(now, tokens-t.tokens)
}

// served notes that the server did its work, whatever the answer is worth.
func (e *endpoint) served() {
	e.window.success(e.inFlight)
	e.failures, e.opened, e.refusals = 0, 0, 0
}

// refuse notes a refusal and makes all requests to the model wait.
func (e *endpoint) refuse(now time.Time, t *permit, after time.Duration) {
	first := e.window.shrink(now, t.at, e.inFlight, true)
	e.pacer.refused(now, first)
	if after > 0 {
		e.pauseFor(now, after)
		return
	}
	if first && e.blocked(now) == 0 {
		e.refusals++
		d := min(refusalMedium, refusalBackoff<<min(e.refusals-1, 10))
		if e.refusals > refusalMany {
			d = refusalLongest
		}
		e.pause = now.Add(time.Duration(rand.Int64N(int64(d))))
	}
}

// pauseFor stops all starts for the time that the server named, and never for
// less.
func (e *endpoint) pauseFor(now time.Time, d time.Duration) {
	jitter := min(jitterMost, time.Duration(pauseJitter*rand.Float64()*float64(d)))
	if until := now.Add(d + jitter); until.After(e.pause) {
		e.pause = until
	}
}

// fail notes a failure of server or network. It reports whether the breaker
// opened, and for how long.
func (e *endpoint) fail(now time.Time, t *permit, f *fault) (time.Duration, bool) {
	if f.after > 0 {
		e.pauseFor(now, f.after)
	}
	if f.timedOut {
		e.window.shrink(now, t.at, e.inFlight, false)
	}
	if e.breaker.tripped() && t.at.Before(e.breaker.until) {
		return 0, false // sent before the breaker opened: no news
	}
	e.failures++
	if e.failures < e.breakAt && !e.breaker.tripped() {
		return 0, false
	}
	d := min(breakerLongest, breakerFirst<<min(e.opened, 10))
	e.opened++
	return d + time.Duration(pauseJitter*rand.Float64()*float64(d)), true
}

// errPaused is why a request was not sent.
var errPaused = errors.New("the model's server asks for a pause longer than the request timeout")

// release ends an attempt: it books what was used, learns from how it went, and
// lets the next ones go.
func (l *limiter) release(j *job, t *permit, f *fault, usage memoryd.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	e := t.endpoint
	switch {
	case usage.PromptTokens > 0:
		e.settle(now, t, booked(j.bytes, t.tokens, usage))
	case f != nil && f.class == refused:
		e.settle(now, t, 0)
	}
	l.judge(now, t, f)
	e.inFlight--
	l.dispatch()
}

// judge draws the consequences of an attempt for model and server.
func (l *limiter) judge(now time.Time, t *permit, f *fault) {
	e := t.endpoint
	switch {
	case f == nil, f.class == final, f.class == badReply, f.class == cut, f.class == adapt:
		e.served()
		l.lift(t)
		if f != nil && f.class == adapt {
			l.adapt(t, f)
		}
	case f.class == refused:
		e.refuse(now, t, f.after)
		l.lift(t)
		if d := e.pause.Sub(now); f.after > 0 && d > longPause {
			l.log.Warn("the model's server asks for a long pause", "model", e.model, "pause", d.Round(time.Second))
		}
	case f.class == transient:
		if d, open := e.fail(now, t, f); open {
			l.stop(&e.breaker, e, cmp.Or(e.breaker.reason, reasonBreakerOpen), f, now, d) // a probe that failed in another way keeps the reason
		}
		if l.breaker.tripped() && !t.at.Before(l.breaker.until) {
			l.breaker.until = now.Add(min(l.cfg.ProbeInterval, breakerLongest))
		}
	case f.class == stopModel:
		l.stop(&e.breaker, e, reasonUnknownModel, f, now, l.cfg.ProbeInterval)
	case f.class == stopAll:
		l.stop(&l.breaker, e, f.health, f, now, l.cfg.ProbeInterval)
	}
}

// stop opens a breaker, or keeps it open, and says so once.
func (l *limiter) stop(h *breaker, e *endpoint, reason string, f *fault, now time.Time, d time.Duration) {
	news := h.reason != reason
	*h = breaker{reason, f, now.Add(d)}
	if news {
		l.log.Error("requests to the model are paused", "model", e.model, "reason", reason, "next", d.Round(time.Second), "err", f.err)
	}
}

// lift closes the breakers that the attempt disproves.
func (l *limiter) lift(t *permit) {
	endpoint, model := l.breaker.lift(t.at), t.endpoint.breaker.lift(t.at)
	if endpoint || model {
		l.log.Info("the model answers again", "model", t.endpoint.model)
	}
}

// adapt remembers the form of request to use from now on, unless another
// request found out before.
func (l *limiter) adapt(t *permit, f *fault) {
	if t.endpoint.dialect == t.dialect {
		t.endpoint.dialect = f.next
		l.log.Info("adapting requests to the model's server", "model", t.endpoint.model, "err", f.err)
	}
}

// withdraw pays for a retry from the budget.
func (l *limiter) withdraw() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.budget.withdraw(time.Now())
}

// Stats returns the state, and the counters since New.
func (l *limiter) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, s := l.endpoints[0], l.stats
	s.Reason = cmp.Or(l.breaker.reason, e.breaker.reason)
	if s.Reason == "" && e.blocked(time.Now()) > longPause {
		s.Reason = reasonRateLimited
	}
	s.Available, s.Queued, s.InFlight, s.Concurrency = s.Reason == "", l.queued, l.inFlight(), e.window.limit
	return s
}

// Health returns why the first model or its server is degraded; "" if it is not.
func (l *limiter) Health() string { return l.Stats().Reason }

// Resting returns how long the server asked to be left alone; 0 if a request can start, or would
// fail at once.
func (l *limiter) Resting() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	e, err := l.usable(now)
	if err != nil {
		return 0
	}
	return e.blocked(now)
}

// The retry budget: a tenth of the first attempts, plus one every ten seconds, so that retries do
// not make an outage worse. It starts with a few, so that a single first request can be retried.
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

// breaker stops requests to a model, or to the whole server, for a reason that waiting a moment
// will not cure. After until, one request at a time may probe; the first
// success of a request that began after that closes it.
type breaker struct {
	reason string // "" when there is none
	fault  *fault
	until  time.Time
}

func (b *breaker) tripped() bool             { return b.reason != "" }
func (b *breaker) blocks(now time.Time) bool { return b.tripped() && now.Before(b.until) }

// lift closes the breaker if a request that began at started proves the server well, and
// reports whether it did.
func (b *breaker) lift(started time.Time) bool {
	if !b.tripped() || started.Before(b.until) {
		return false
	}
	*b = breaker{}
	return true
}

// The reasons for being degraded.
const (
	reasonCredentials  = "credentials"   // the key was rejected
	reasonQuota        = "quota"         // the account has no credit left
	reasonUnknownModel = "unknown_model" // the server does not have the model
	reasonBreakerOpen  = "breaker_open"  // too many failures in a row
	reasonEndpoint     = "endpoint"      // the address is wrong: it redirects, or its certificate is invalid
	reasonRateLimited  = "rate_limited"  // the server asked for a pause of more than a minute
)

// longPause is the pause from which on a refusing server counts as degraded.
const longPause = time.Minute

// Stats are the counters of a client.
type Stats struct {
	Available   bool   `metric:"model_available" help:"1 if the model is available, 0 while its circuit breaker is open or its server refuses."`
	Reason      string `metric:"model_halted" label:"reason" help:"1 for the reason why the model is unavailable: breaker_open, credentials, quota, unknown_model, endpoint or rate_limited."`
	Queued      int    `metric:"model_queue_depth" help:"Requests waiting for the model."`
	InFlight    int    `metric:"model_in_flight" help:"Running requests to the model."`
	Concurrency int    `metric:"model_concurrency_limit" help:"Current limit of concurrent requests; it adapts to the model's server."`
	Retries     int64  `metric:"model_retries_total" help:"Retries of requests to the model."`
}
