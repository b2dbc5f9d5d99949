package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// report is one triple of rate-limit headers, for requests or for tokens.
type report struct {
	limit     float64
	remaining float64
	reset     time.Duration
}

// plausible turns away what no limiter can mean (Azure has sent -1 and 0).
func (r report) plausible() bool {
	return r.limit >= 1 && r.remaining >= 0 && r.remaining <= r.limit &&
		r.limit < 1e12 && r.reset >= 0 && (r.reset > 0 || r.remaining == r.limit)
}

// The ways in which a server's credit comes back.
type refill int

const (
	unknownRefill refill = iota // not told apart yet
	windowRefill                // all of it when the window ends
	bucketRefill                // continuously
)

// learned is the part of a learnt rate that is used.
const learned = 0.98

// resetSlack is added to a reset: the time on the way, and rounding. To come too
// early costs a refusal for each request in flight.
const resetSlack = 100 * time.Millisecond

// A bucket that fills within so many seconds is too shallow to follow: a
// reply's news of it are older than its credit lives. The pacer does better.
const shallow = 10

// maxReset bounds what a reset header may ask for.
const maxReset = time.Hour

// headerMeter follows the credit that the server says is left. As long as the way of
// its coming back is unknown, it uses what is left, then waits for the reset,
// and lets one request find out. The zero value knows of no limit. Not safe for
// concurrent use.
type headerMeter struct {
	known    bool
	refill   refill
	limit    float64
	level    float64
	rate     float64 // bucketRefill: units per second
	last     time.Time
	reset    time.Duration // the newest report's
	refillAt time.Time     // when the credit is whole again
	rolledAt time.Time     // windowRefill: when it last was
	taken    float64       // units taken since the beginning
	newest   uint64        // order of the newest request whose report was used
	detector detector
}

// mark is the moment of a request's start, as a meter counts.
type mark struct {
	order uint64
	at    time.Time
	taken float64
}

// confirms reports whether the server names the very limit per minute that a
// bucket of the rate stands for. Then the server's word on what is left is
// better than the bucket's guess, which knows nothing of credit at the start.
func (m *headerMeter) confirms(rate float64) bool {
	return m.known && rate > 0 && (m.refill != bucketRefill || m.limit >= shallow*m.rate) && math.Abs(m.limit/(60*rate/margin)-1) < 0.1
}

// wait says how long n units have to wait.
func (m *headerMeter) wait(now time.Time, n float64) time.Duration {
	if !m.known || (m.refill == bucketRefill && m.limit < shallow*m.rate) {
		return 0
	}
	m.advance(now)
	missing := min(n, m.limit) - m.level
	if missing <= 1e-9 {
		return 0
	}
	if m.refill == bucketRefill {
		return refillTime(missing, m.rate)
	}
	return max(0, m.refillAt.Sub(now))
}

// take removes n units; a negative n gives back.
func (m *headerMeter) take(now time.Time, n float64) {
	m.taken += n
	if !m.known {
		return
	}
	m.advance(now)
	if m.refill == unknownRefill && m.level < n && !now.Before(m.refillAt) {
		m.refillAt = now.Add(m.reset) // the one that finds out
	}
	m.level = min(m.limit, m.level-n)
}

func (m *headerMeter) advance(now time.Time) {
	switch m.refill {
	case bucketRefill:
		if dt := now.Sub(m.last).Seconds(); dt > 0 {
			m.level = min(m.limit, m.level+dt*m.rate)
			m.last = now
		}
	case windowRefill:
		if !m.refillAt.IsZero() && !now.Before(m.refillAt) {
			m.level, m.rolledAt, m.refillAt = m.limit, now, time.Time{}
		}
	}
}

// reading is what the report says of the credit now. Whether the server counted
// when the request came or when it answered is not known; the smaller of the
// two readings is safe.
func (m *headerMeter) reading(now time.Time, r report, t mark) float64 {
	came := r.remaining - (m.taken - t.taken)
	if m.refill != bucketRefill {
		return came
	}
	return min(r.remaining, came+m.rate*now.Sub(t.at).Seconds())
}

// observe takes the report on the request that began at mark t. Reports that
// arrive out of order, or from before the window's end, are stale and not used.
func (m *headerMeter) observe(now time.Time, r report, t mark) {
	if !r.plausible() || t.order < m.newest || (m.refill == windowRefill && t.at.Before(m.rolledAt)) {
		return
	}
	m.newest = t.order
	r.reset = min(r.reset, maxReset)
	if !m.known || m.limit != r.limit {
		*m = headerMeter{known: true, limit: r.limit, last: now, taken: m.taken, newest: t.order}
	}
	if kind, rate := m.detector.tell(now, r, t.taken, m.refill); kind != unknownRefill {
		m.refill, m.rate = kind, learned*rate
	}
	m.level = m.reading(now, r, t)
	m.last, m.reset, m.refillAt = now, r.reset, now.Add(r.reset+resetSlack)
}

// Thresholds that tell the kinds of refill apart.
const (
	apartBy   = 1.25 // by how much "used" must have changed to compare two reports
	leastUsed = 4    // least use that two reports are compared at: they are rounded
	sameRate  = 0.15
	agreeing  = 2               // comparisons in a row that must agree
	baseline  = 5 * time.Second // least time of a measurement
	sameFlow  = 0.3
)

// detector finds out from reports how a server's credit comes back, in two ways.
//
// By their resets: a bucket's reset is the time to full, so used/reset is its
// rate whatever was used; a window's is the time to its end, so used/reset
// grows with what was used.
//
// By measuring: what remains, plus what was taken since an earlier report, less
// what remained then, is what came back. This holds whatever limit and reset
// mean to the server, and takes longer.
type detector struct {
	used, perUsed float64 // the report to compare with: units used, and used/reset
	agree         int     // comparisons in a row that agree; negative: on a window

	at        time.Time // the measurement's beginning
	remaining float64
	taken     float64
	flow      float64 // units per second in the measurement before
}

// tell uses one more report on a request at whose start taken units had been
// taken. It gives a kind and a bucket's rate when it knows them anew.
func (d *detector) tell(now time.Time, r report, taken float64, kind refill) (refill, float64) {
	byReset, rate := d.byReset(r)
	byFlow, flow := d.byFlow(now, r, taken)
	switch {
	case kind == unknownRefill && byReset != unknownRefill:
		return byReset, rate
	case kind == unknownRefill:
		return byFlow, flow
	}
	return unknownRefill, 0
}

func (d *detector) byReset(r report) (refill, float64) {
	used := r.limit - r.remaining
	if used < leastUsed || r.reset <= 0 {
		return unknownRefill, 0
	}
	per := used / r.reset.Seconds()
	if d.used == 0 {
		d.used, d.perUsed = used, per
		return unknownRefill, 0
	}
	grown := used / d.used
	if grown < apartBy && grown > 1/apartBy {
		return unknownRefill, 0
	}
	ratio := per / d.perUsed
	d.used, d.perUsed = used, per
	switch {
	case math.Abs(ratio-1) < sameRate:
		d.agree = max(1, d.agree+1)
	case math.Abs(ratio/grown-1) < 2*sameRate:
		d.agree = min(-1, d.agree-1)
	default:
		d.agree = 0
	}
	switch {
	case d.agree >= agreeing:
		return bucketRefill, per
	case d.agree <= -agreeing:
		return windowRefill, 0
	}
	return unknownRefill, 0
}

func (d *detector) byFlow(now time.Time, r report, taken float64) (refill, float64) {
	dt := now.Sub(d.at)
	if !d.at.IsZero() && dt < baseline {
		return unknownRefill, 0
	}
	before := *d
	d.at, d.remaining, d.taken = now, r.remaining, taken
	if before.at.IsZero() || dt > 10*baseline {
		d.flow = 0
		return unknownRefill, 0
	}
	used := taken - before.taken
	back := r.remaining - before.remaining + used
	d.flow = max(0, back/dt.Seconds())
	switch {
	case used >= leastUsed && back <= 0.1*used:
		return windowRefill, 0
	case d.flow > 0 && before.flow > 0 && math.Abs(d.flow/before.flow-1) < sameFlow:
		return bucketRefill, d.flow
	}
	return unknownRefill, 0
}

// Limits of a wait that a server asks for.
const (
	leastPause   = 500 * time.Millisecond
	longestPause = time.Hour
)

// retryAfter reads the wait that the headers name: retry-after-ms, then
// Retry-After as (decimal) seconds or as an HTTP date, which is compared with
// the reply's own Date so that a wrong clock on either side does no harm. A
// value that is negative, past, or not a number counts as none; others are
// bound to half a second and one hour. 0 means none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if d, ok := millis(h.Get("retry-after-ms")); ok {
		return clampPause(d)
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if math.IsNaN(f) || f < 0 {
			return 0
		}
		return clampPause(f * float64(time.Second))
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	if d := at.Sub(now); d > 0 {
		return clampPause(float64(d))
	}
	return 0
}

func millis(text string) (nanos float64, ok bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0, false
	}
	return f * float64(time.Millisecond), true
}

func clampPause(nanos float64) time.Duration {
	return time.Duration(max(float64(leastPause), min(nanos, float64(longestPause))))
}

// rateReports reads the x-ratelimit headers for requests and for tokens. ok is
// false where one of the three is missing or makes no sense.
func rateReports(h http.Header) (requests, tokens report, okRequests, okTokens bool) {
	requests, okRequests = readReport(h, "requests")
	tokens, okTokens = readReport(h, "tokens")
	return
}

func readReport(h http.Header, what string) (report, bool) {
	limit, ok1 := number(h.Get("x-ratelimit-limit-" + what))
	remaining, ok2 := number(h.Get("x-ratelimit-remaining-" + what))
	reset, ok3 := resetTime(h.Get("x-ratelimit-reset-" + what))
	if !ok3 && ok1 && ok2 && limit == remaining {
		ok3 = true // nothing used: there is nothing to wait for
	}
	r := report{limit: limit, remaining: remaining, reset: reset}
	return r, ok1 && ok2 && ok3 && r.plausible()
}

func number(text string) (float64, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// resetTime reads "6m0s", "120ms", "1.5s", or plain seconds.
func resetTime(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	f, ok := number(text)
	if !ok || f < 0 || f > 1e9 {
		return 0, false
	}
	return time.Duration(f * float64(time.Second)), true
}
