package llm

import (
	"math"
	"time"

	"memoryd"
	"memoryd/internal/fairqueue"

	"golang.org/x/time/rate"
)

// margin is the part of a configured limit that is used. The rest absorbs
// jitter on the way to the server: a request that is late by a little would
// otherwise be one too many for the server's minute.
const margin = 0.99

// The part of a limit, in seconds, that can be used at once if no burst is configured. For
// requests, it hides late timers at high rates; for tokens, it keeps a large request from delaying
// small ones. A configured burst gets no such margin, because the server would refuse it.
const (
	requestBurst = 0.1
	tokenBurst   = 1.5
)

// onTheWay is the part of a configured burst, in seconds, that is left to requests which
// arrive together though they were sent apart; half of a burst at most.
const onTheWay = 0.1

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

// newBucket makes a full bucket of a limit per minute that is nearly as deep as the
// burst, or, without one, so many seconds.
func newBucket(perMinute int, without float64, burst time.Duration, now time.Time) bucket {
	rate := margin * float64(perMinute) / 60
	seconds := burst.Seconds() - min(onTheWay, burst.Seconds()/2)
	if burst == 0 {
		seconds = without
	}
	depth := max(1, rate*seconds)
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

// take removes n units, into debt if need be; a negative n gives back, as far as there
// is room: what was reserved too much has come in anew where the bucket is full.
func (b *bucket) take(now time.Time, n float64) {
	b.fill(now)
	b.level = min(b.depth, b.level-n)
}

func (b *bucket) fill(now time.Time) {
	if dt := now.Sub(b.last).Seconds(); dt > 0 {
		b.level = min(b.depth, b.level+dt*b.rate)
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

// How a rate is learned from refusals.
const (
	pacerLeast  = 10              // admitted requests that make a measurement
	pacerClean  = 5 * time.Second // clean time before the pace grows
	pacerStep   = 0.01            // first growth; each further one is half as much again
	pacerMost   = 0.5
	pacerShrink = 0.85            // one refusal takes the pace down to this part at most
	pacerBlind  = 0.95            // and to this when it came too soon to measure
	pacerMoment = 2 * time.Second // longer pauses are left out of a measurement
)

// pacer guesses the server's request rate from its refusals alone. A refusal
// means that the server's credit is used up; so what it let through between
// refusals, with work waiting all the time, is its rate, be the limit on
// requests, on tokens or on concurrency. Before enough was measured there is no
// pace. Pauses of more than a moment are left out: where credit comes back once
// a minute, the measured rate is then far above the average, which is right,
// because there the pauses keep the limit. Not safe for concurrent use.
type pacer struct {
	rate     float64 // requests per second; 0 means none yet
	next     time.Time
	from     time.Time // the running stretch of measured time began; zero: none runs
	refusal  time.Time // the newest; zero: none since work last ran out
	took     time.Duration
	admitted int // requests in the measured time, without the refused ones
	grown    time.Time
	step     float64
}

func (p *pacer) wait(now time.Time) time.Duration {
	return max(0, p.next.Sub(now))
}

// start notes a request that goes out.
func (p *pacer) start(now time.Time) {
	if p.from.IsZero() && !p.refusal.IsZero() {
		p.from = now
		if now.Sub(p.refusal) <= pacerMoment {
			p.from = p.refusal
		}
	}
	p.admitted++
	if p.rate == 0 {
		return
	}
	if now.Sub(p.grown) >= pacerClean {
		p.rate *= 1 + p.step
		p.step = min(pacerMost, 1.5*p.step)
		p.grown = now
	}
	if p.next.Before(now) {
		p.next = now
	}
	p.next = p.next.Add(time.Duration(float64(time.Second) / p.rate))
}

// refused notes a refusal; first says that it is the first of those that were
// out together.
func (p *pacer) refused(now time.Time, first bool) {
	p.admitted--
	p.grown, p.step = now, pacerStep
	if !first {
		return
	}
	if p.from.IsZero() { // the first refusal since work came in
		p.took, p.admitted = 0, 0
	} else {
		p.took += now.Sub(p.from)
	}
	p.from, p.refusal = time.Time{}, now
	if p.admitted < pacerLeast || p.took < time.Second {
		p.rate *= pacerBlind
		return
	}
	measured := float64(p.admitted) / p.took.Seconds()
	if p.rate > 0 {
		measured = min(max(measured, pacerShrink*p.rate), p.rate)
	}
	p.rate, p.next = measured, now
	p.took, p.admitted = 0, 0
}

// idle notes that nothing waits: what is admitted now says nothing of the
// server's rate.
func (p *pacer) idle() { p.from, p.refusal = time.Time{}, time.Time{} }

// How the concurrency window grows.
const (
	windowStart    = 2
	plateauStart   = 1 // clean windows at the level of the last refusal before one more is tried
	plateauLongest = 6 // the same, after many refusals there
)

// window is how many requests may be in flight: additive increase,
// multiplicative decrease. It starts at two, or at half of its ceiling where a
// known rate limits the first requests already, and grows by one with each success
// (so it doubles with each clean window) until the first refusal; then it is
// halved, comes back as fast to just below where it was refused, and from there
// goes up by one only after several clean windows, more of them each time. Not
// safe for concurrent use.
type window struct {
	limit   int
	ceiling int
	brink   int // growth is slow from here on
	plateau int
	clean   int // successes since the last change
	proved  int // most requests in flight at a success
	epoch   time.Time
}

func newWindow(ceiling int, known bool) window {
	start := min(windowStart, ceiling)
	if known {
		start = max(start, ceiling/2)
	}
	return window{limit: start, ceiling: ceiling, brink: ceiling, plateau: plateauStart}
}

// success notes a good reply while inFlight requests were out, itself
// included. A window that was not full proves nothing.
func (w *window) success(inFlight int) {
	w.proved = max(w.proved, inFlight)
	if inFlight < w.limit || w.limit >= w.ceiling {
		return
	}
	w.clean++
	if w.limit < w.brink || w.clean >= w.limit*w.plateau {
		if w.limit >= w.brink {
			w.brink = w.limit + 1
		}
		w.limit++
		w.clean = 0
	}
}

// shrink halves the window because of a request that began at started, once
// for all that were out together, and reports whether it did. refused says that
// the server found them too many; a time-out alone says nothing of how many
// would have been right.
func (w *window) shrink(now, started time.Time, inFlight int, refused bool) bool {
	if started.Before(w.epoch) {
		return false
	}
	w.epoch = now
	if refused && inFlight > w.proved {
		w.brink = max(1, min(w.limit, inFlight)-1)
		w.plateau = min(plateauLongest, 2*w.plateau)
	}
	w.limit = max(1, w.limit/2)
	w.clean = 0
	return true
}

// job is one request of a caller while it waits or runs.
type job struct {
	queue     *opQueue
	place     *fairqueue.Entry[*job] // nil: not queued yet
	workspace string
	bytes     int // of prompt
	maxTokens int

	tried   bool // had a permit before
	since   time.Time
	granted chan grant // holds one
}

// grant ends a job's wait: a permit, or why there will be none.
type grant struct {
	permit *permit
	err    error
}

// opQueue is the line of one op, fair between workspaces. All lines of a client
// share a clock.
type opQueue struct {
	name    string
	spacing *rate.Limiter
	jobs    *fairqueue.Queue[*job]
}

// push puts a job into the line. A job that comes back keeps its turn.
func (q *opQueue) push(j *job) {
	if j.place != nil {
		q.jobs.Return(j.place)
		return
	}
	j.place = q.jobs.Push(j.workspace, estimated(j.bytes, 0), j)
}

// spaced says how long the op's spacing makes the next start wait.
func (q *opQueue) spaced(now time.Time) time.Duration {
	r := q.spacing.ReserveN(now, 1)
	defer r.CancelAt(now)
	return r.DelayFrom(now)
}

// The estimated cost of a request before the server reports one.
const (
	startPerByte = 0.27 // tokens a byte of prompt; four bytes a token, and a little more
	startAnswer  = 256  // tokens of an answer, if its cap is not lower
)

// estimated guesses the tokens of prompt and answer together. maxTokens 0 means no cap.
func estimated(promptBytes, maxTokens int) float64 {
	answer := startAnswer
	if maxTokens > 0 {
		answer = min(answer, maxTokens)
	}
	return startPerByte*float64(promptBytes) + float64(answer)
}

// booked gives the tokens to book for a request that the server counted. A count that cannot be
// is not believed: then the guess stands.
func booked(promptBytes int, guess float64, u memoryd.Usage) float64 {
	if u.PromptTokens <= 0 || u.PromptTokens > 2*promptBytes+1000 || u.CompletionTokens > 1<<20 {
		return guess
	}
	return float64(u.PromptTokens + u.CompletionTokens)
}
