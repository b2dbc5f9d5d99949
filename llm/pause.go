package llm

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

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
	text := h.Get("Retry-After")
	if seconds := number(text); seconds >= 0 {
		return clampPause(seconds * float64(time.Second))
	}
	at, err := http.ParseTime(strings.TrimSpace(text))
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
