package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of a wait that a server names.
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
