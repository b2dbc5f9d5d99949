package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// resetSlack is added to a reset: the time on the way, and rounding. To come too
// early costs a refusal for each request in flight.
const resetSlack = 100 * time.Millisecond

// Resets that are heeded. A bucket that is full again sooner is too shallow to follow: a
// reply's news of it are older than its credit. Where credit comes back bit by bit, as of a
// limit per day, some is there long before a late reset. Refusals tell more of both.
const (
	shortestReset = 3 * time.Second
	longestReset  = 2 * time.Minute
)

// usedUp is how long a server that says that nothing is left of a limit wants to be left
// alone: until its reset. What makes no sense counts as nothing said (Azure has sent -1).
func usedUp(h http.Header) (pause time.Duration) {
	for _, what := range []string{"requests", "tokens"} {
		limit, remaining := number(h.Get("x-ratelimit-limit-"+what)), number(h.Get("x-ratelimit-remaining-"+what))
		reset, _ := resetTime(h.Get("x-ratelimit-reset-" + what))
		if limit >= 1 && remaining >= 0 && remaining < 1 && reset >= shortestReset {
			pause = max(pause, min(reset, longestReset)+resetSlack)
		}
	}
	return pause
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
	if ms := number(h.Get("retry-after-ms")); ms >= 0 {
		return clampPause(ms * float64(time.Millisecond))
	}
	text := strings.TrimSpace(h.Get("Retry-After"))
	if text == "" {
		return 0
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		if f >= 0 {
			return clampPause(f * float64(time.Second))
		}
		return 0
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

func clampPause(nanos float64) time.Duration {
	return time.Duration(max(float64(leastPause), min(nanos, float64(longestPause))))
}

// number reads a number; what is none is NaN, which no comparison is true of.
func number(text string) float64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		return math.NaN()
	}
	return f
}

// resetTime reads "6m0s", "120ms", "1.5s", or plain seconds.
func resetTime(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	if d, err := time.ParseDuration(text); err == nil {
		return d, d >= 0
	}
	if f := number(text); f >= 0 && f <= 1e9 {
		return time.Duration(f * float64(time.Second)), true
	}
	return 0, false
}
