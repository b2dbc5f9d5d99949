package llm

import (
	"math/rand/v2"
	"net/http"
	"time"
)

// Waits that the client chooses itself.
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

// lane is the road to one model: everything that decides whether a request may
// start now. It is guarded by the gate's lock.
type lane struct {
	model    string
	breakAt  int
	dialect  dialect
	requests bucket
	tokens   bucket
	heard    struct{ requests, tokens meter }
	pacer    pacer
	window   window
	halt     halt
	pause    time.Time // nothing starts before
	inFlight int
	order    uint64 // requests started
	failures int    // in a row
	opened   int    // how often in a row the breaker opened
	refusals int    // in a row
}

// ticket is the right to send one request.
type ticket struct {
	lane    *lane
	at      time.Time
	waited  time.Duration
	again   bool
	dialect dialect
	tokens  float64
	mark    struct{ requests, tokens mark }
}

func newLane(cfg Config, model string, now time.Time) *lane {
	return &lane{
		model: model, breakAt: cfg.BreakerFailures, dialect: newDialect(model), window: newWindow(cfg.MaxConcurrency),
		requests: newBucket(cfg.RequestsPerMinute, requestBurst, cfg.Burst, now),
		tokens:   newBucket(cfg.TokensPerMinute, tokenBurst, cfg.Burst, now),
	}
}

// blocked says for how long the server wants nothing from us.
func (l *lane) blocked(now time.Time) time.Duration {
	return max(0, l.pause.Sub(now), l.heard.requests.wait(now, 1), l.heard.tokens.wait(now, 1))
}

// ready says how long a request of n tokens has to wait: 0 means it may start,
// untilFree that another must end first.
func (l *lane) ready(now time.Time, n float64) time.Duration {
	if l.inFlight >= l.window.limit || (l.halt.on() && l.inFlight > 0) {
		return untilFree
	}
	wait := max(l.blocked(now), l.heard.tokens.wait(now, n), l.pacer.wait(now))
	if !l.heard.requests.confirms(l.requests.rate) {
		wait = max(wait, l.requests.wait(now, 1))
	}
	if !l.heard.tokens.confirms(l.tokens.rate) {
		wait = max(wait, l.tokens.wait(now, n))
	}
	return wait
}

// start books a request of n tokens.
func (l *lane) start(now time.Time, n float64) *ticket {
	l.inFlight++
	l.order++
	l.requests.take(now, 1)
	l.tokens.take(now, n)
	l.heard.requests.take(now, 1)
	l.heard.tokens.take(now, n)
	l.pacer.start(now)
	t := &ticket{lane: l, at: now, dialect: l.dialect, tokens: n}
	t.mark.requests = mark{l.order, now, l.heard.requests.taken}
	t.mark.tokens = mark{l.order, now, l.heard.tokens.taken}
	return t
}

// settle corrects the tokens that were booked at the start.
func (l *lane) settle(now time.Time, t *ticket, tokens float64) {
	l.tokens.take(now, tokens-t.tokens)
	l.heard.tokens.take(now, tokens-t.tokens)
	t.mark.tokens.taken += tokens - t.tokens
}

// hear uses the rate-limit headers of a reply.
func (l *lane) hear(now time.Time, t *ticket, h http.Header) {
	requests, tokens, okRequests, okTokens := rateReports(h)
	if okRequests {
		l.heard.requests.observe(now, requests, t.mark.requests)
	}
	if okTokens {
		l.heard.tokens.observe(now, tokens, t.mark.tokens)
	}
}

// served notes that the server did its work, whatever the answer is worth.
func (l *lane) served() {
	l.window.success(l.inFlight)
	l.failures, l.opened, l.refusals = 0, 0, 0
}

// refuse notes a refusal and makes all requests to the model wait.
func (l *lane) refuse(now time.Time, t *ticket, after time.Duration) {
	first := l.window.shrink(now, t.at, l.inFlight, true)
	if told := max(l.heard.requests.wait(now, 1), l.heard.tokens.wait(now, 1)); told == 0 {
		l.pacer.refused(now, first) // the headers do not explain it
	}
	if after > 0 {
		l.pauseFor(now, after)
		return
	}
	if first && l.blocked(now) == 0 {
		l.refusals++
		d := min(refusalMedium, refusalBackoff<<min(l.refusals-1, 10))
		if l.refusals > refusalMany {
			d = refusalLongest
		}
		l.pause = now.Add(time.Duration(rand.Int64N(int64(d))))
	}
}

// pauseFor stops all starts for the time that the server named, and never for
// less.
func (l *lane) pauseFor(now time.Time, d time.Duration) {
	jitter := min(jitterMost, time.Duration(pauseJitter*rand.Float64()*float64(d)))
	if until := now.Add(d + jitter); until.After(l.pause) {
		l.pause = until
	}
}

// fail notes a failure of server or network. It reports whether the breaker
// opened, and for how long.
func (l *lane) fail(now time.Time, t *ticket, f *fault) (time.Duration, bool) {
	if f.after > 0 {
		l.pauseFor(now, f.after)
	}
	if f.timedOut {
		l.window.shrink(now, t.at, l.inFlight, false)
	}
	if l.halt.on() && t.at.Before(l.halt.until) {
		return 0, false // sent before the breaker opened: no news
	}
	l.failures++
	if l.failures < l.breakAt && !l.halt.on() {
		return 0, false
	}
	d := min(breakerLongest, breakerFirst<<min(l.opened, 10))
	l.opened++
	return d + time.Duration(pauseJitter*rand.Float64()*float64(d)), true
}
