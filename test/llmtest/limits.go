package llmtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Refill is how the credit of a limit refills.
type Refill int

// The refills.
const (
	Bucket  Refill = iota // continuously, up to the burst
	Window                // all at once, a minute after the first request and every minute after that
	Sliding               // each unit a minute after it was spent
)

// Limits are a provider's limits; 0 means none. A request pays for its prompt tokens when it
// arrives, and for its answer's tokens when the answer is sent.
type Limits struct {
	RequestsPerMinute int
	TokensPerMinute   int
	Concurrency       int
	// RequestBurst and TokenBurst are the credit at the start and the capacity of a bucket; 0
	// means the credit of one minute.
	RequestBurst int
	TokenBurst   int
	Refill       Refill
	// CountRefused makes refused requests pay too.
	CountRefused bool
	// Headers adds the x-ratelimit headers to each reply.
	Headers bool
	// EarlyHeaders makes these headers show the credit at the arrival of the request instead
	// of at its reply.
	EarlyHeaders bool
	// RetryAfter is the notation of the wait in refusals.
	RetryAfter RetryAfter
}

// credit is one limit at work.
type credit interface {
	// has reports whether n units are there, else how long they take to come.
	has(now time.Time, n float64) (time.Duration, bool)
	take(now time.Time, n float64)
	// left is what remains, full when all of it will be there again.
	left(now time.Time) (remaining float64, full time.Duration)
}

func newCredit(perMinute, burst int, refill Refill) credit {
	if perMinute == 0 {
		return nil
	}
	if burst == 0 {
		burst = perMinute
	}
	switch refill {
	case Window:
		return &windowCredit{size: float64(perMinute)}
	case Sliding:
		return &slidingCredit{size: float64(perMinute)}
	}
	return &bucketCredit{rate: float64(perMinute) / 60, depth: float64(burst), level: float64(burst)}
}

type bucketCredit struct {
	rate, depth, level float64
	last               time.Time
}

func (b *bucketCredit) fill(now time.Time) {
	if !b.last.IsZero() {
		b.level = min(b.depth, b.level+b.rate*now.Sub(b.last).Seconds())
	}
	b.last = now
}

func (b *bucketCredit) has(now time.Time, n float64) (time.Duration, bool) {
	b.fill(now)
	if missing := min(n, b.depth) - b.level; missing > 1e-6 {
		return seconds(missing / b.rate), false
	}
	return 0, true
}

func (b *bucketCredit) take(now time.Time, n float64) { b.fill(now); b.level -= n }

func (b *bucketCredit) left(now time.Time) (float64, time.Duration) {
	b.fill(now)
	return max(0, b.level), seconds((b.depth - b.level) / b.rate)
}

type windowCredit struct {
	size, used float64
	ends       time.Time
}

func (w *windowCredit) roll(now time.Time) {
	if w.ends.IsZero() {
		w.ends = now.Add(time.Minute)
	}
	for !now.Before(w.ends) {
		w.used, w.ends = 0, w.ends.Add(time.Minute)
	}
}

func (w *windowCredit) has(now time.Time, n float64) (time.Duration, bool) {
	w.roll(now)
	return w.ends.Sub(now), w.used+min(n, w.size) <= w.size
}

func (w *windowCredit) take(now time.Time, n float64) { w.roll(now); w.used += n }

func (w *windowCredit) left(now time.Time) (float64, time.Duration) {
	w.roll(now)
	return max(0, w.size-w.used), w.ends.Sub(now)
}

type slidingCredit struct {
	size, used float64
	log        []slidingUse
}

type slidingUse struct {
	at time.Time
	n  float64
}

func (s *slidingCredit) roll(now time.Time) {
	for len(s.log) > 0 && now.Sub(s.log[0].at) >= time.Minute {
		s.used -= s.log[0].n
		s.log = s.log[1:]
	}
}

func (s *slidingCredit) has(now time.Time, n float64) (time.Duration, bool) {
	s.roll(now)
	missing := s.used + min(n, s.size) - s.size
	for _, u := range s.log {
		if missing <= 1e-6 {
			break
		}
		if missing -= u.n; missing <= 1e-6 {
			return time.Minute - now.Sub(u.at), false
		}
	}
	return 0, true
}

func (s *slidingCredit) take(now time.Time, n float64) {
	s.roll(now)
	s.used += n
	s.log = append(s.log, slidingUse{now, n})
}

func (s *slidingCredit) left(now time.Time) (float64, time.Duration) {
	s.roll(now)
	if len(s.log) == 0 {
		return s.size, 0
	}
	return max(0, s.size-s.used), time.Minute - now.Sub(s.log[len(s.log)-1].at)
}

func seconds(s float64) time.Duration { return time.Duration(s*1e9 + 1) }

// limiter is Limits at work.
type limiter struct {
	Limits
	requests credit
	tokens   credit
}

func newLimiter(l Limits) *limiter {
	return &limiter{
		Limits:   l,
		requests: newCredit(l.RequestsPerMinute, l.RequestBurst, l.Refill),
		tokens:   newCredit(l.TokensPerMinute, l.TokenBurst, l.Refill),
	}
}

// admit charges a request of n prompt tokens with inFlight others in flight, or
// says why not and for how long.
func (l *limiter) admit(now time.Time, n float64, inFlight int) (kind string, wait time.Duration, ok bool) {
	ok = true
	check := func(name string, c credit, n float64) {
		if c == nil {
			return
		}
		if w, has := c.has(now, n); !has {
			kind, wait, ok = name, max(wait, w), false
		}
	}
	check("requests", l.requests, 1)
	check("tokens", l.tokens, n)
	if l.Concurrency > 0 && inFlight >= l.Concurrency {
		kind, ok = "concurrency", false
	}
	if ok || l.CountRefused {
		l.charge(now, 1, n)
	}
	return kind, wait, ok
}

func (l *limiter) charge(now time.Time, requests, tokens float64) {
	if l.requests != nil && requests > 0 {
		l.requests.take(now, requests)
	}
	if l.tokens != nil && tokens > 0 {
		l.tokens.take(now, tokens)
	}
}

// headers writes the x-ratelimit headers.
func (l *limiter) headers(h http.Header, now time.Time) {
	if !l.Headers {
		return
	}
	write := func(what string, limit, burst int, c credit) {
		if c == nil {
			return
		}
		if l.Refill == Bucket && burst > 0 {
			limit = burst
		}
		remaining, full := c.left(now)
		h.Set("x-ratelimit-limit-"+what, strconv.Itoa(limit))
		h.Set("x-ratelimit-remaining-"+what, strconv.Itoa(int(remaining)))
		h.Set("x-ratelimit-reset-"+what, full.Round(time.Millisecond).String())
	}
	write("requests", l.RequestsPerMinute, l.RequestBurst, l.requests)
	write("tokens", l.TokensPerMinute, l.TokenBurst, l.tokens)
}

// refusal is the 429 for what was missing.
func (l *limiter) refusal(kind string, now time.Time, wait time.Duration) Reply {
	r := Error(http.StatusTooManyRequests, kind, "rate_limit_exceeded", fmt.Sprintf("Rate limit reached for %s.", kind))
	if wait > 0 {
		l.RetryAfter.header(r.Header, now, wait)
	}
	return r
}
