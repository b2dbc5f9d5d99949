package llm

import (
	"math"
	"time"
)

// margin is the part of a configured limit that is used. The rest absorbs
// jitter on the way to the server: a request that is late by a little would
// otherwise be one too many for the server's minute.
const margin = 0.99

// The part of a limit, in seconds, that may always be used at once: for
// requests so that timers that fire late cost nothing at high rates, for tokens
// so that a large request does not hold up the small ones behind it.
const (
	requestBurst = 0.1
	tokenBurst   = 1.5
)

// bucket is a token bucket for a configured limit. Unlike x/time/rate it can
// take back what was reserved too much and go into debt for a request that is
// larger than its depth. The zero value has no limit. Not safe for concurrent
// use.
type bucket struct {
	rate  float64 // units per second; 0 means no limit
	depth float64
	level float64
	last  time.Time
}

// newBucket makes a full bucket of a limit per minute that is at least so many
// seconds deep.
func newBucket(perMinute int, least float64, burst time.Duration, now time.Time) bucket {
	rate := margin * float64(perMinute) / 60
	depth := max(1, rate*max(least, burst.Seconds()))
	return bucket{rate: rate, depth: depth, level: depth, last: now}
}

// wait says how long n units have to wait; more than the depth need a full one.
func (b *bucket) wait(now time.Time, n float64) time.Duration {
	if b.rate == 0 {
		return 0
	}
	b.fill(now)
	return refillTime(min(n, b.depth)-b.level, b.rate)
}

// take removes n units, into debt if need be; a negative n gives back.
func (b *bucket) take(now time.Time, n float64) {
	if b.rate == 0 {
		return
	}
	b.fill(now)
	b.level -= n // what comes back may pass the depth: it was paid for before
}

func (b *bucket) fill(now time.Time) {
	if dt := now.Sub(b.last).Seconds(); dt > 0 {
		b.level = max(b.level, min(b.depth, b.level+dt*b.rate))
		b.last = now
	}
}

// refillTime is how long a shortfall takes to come in at rate, rounded up.
func refillTime(missing, rate float64) time.Duration {
	if missing <= 1e-9 {
		return 0
	}
	return time.Duration(math.Ceil(min(missing/rate, 1e9)*1e9)) * time.Nanosecond
}
