package llm

import (
	"net/http"
	"testing"
	"time"

	"memoryd"

	"pgregory.net/rapid"
)

// Whatever the header says, the wait is none or within its bounds.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"3", "2.5", "-1", "NaN", "1e9", "Inf", "soon", "Mon, 02 Jan 2040 15:04:05 GMT", "", "0", "0x10", "1_000"} {
		f.Add(s, s, "Mon, 02 Jan 2040 15:04:05 GMT")
	}
	f.Fuzz(func(t *testing.T, after, millis, date string) {
		d := retryAfter(http.Header{"Retry-After": {after}, "Retry-After-Ms": {millis}, "Date": {date}}, time.Unix(1000, 0))
		if d != 0 && (d < leastPause || d > longestPause) {
			t.Errorf("%v", d)
		}
	})
}

// A bucket never lets more through than its rate and depth allow.
func TestBucketKeepsItsRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(1000, 0)
		now := start
		perMinute := rapid.IntRange(1, 100_000).Draw(t, "per minute")
		burst := time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "burst"))
		b := newBucket(perMinute, requestBurst, burst, now)
		sum, largest := 0.0, 0.0
		for range 50 {
			n := rapid.Float64Range(0.1, 500).Draw(t, "units")
			now = now.Add(b.wait(now, n))
			if b.wait(now, n) > time.Microsecond {
				t.Fatalf("after the wait there is another: %v", b.wait(now, n))
			}
			b.take(now, n)
			sum, largest = sum+n, max(largest, n)
		}
		if most := float64(perMinute)/60*now.Sub(start).Seconds() + b.depth + largest + 1e-3; sum > most {
			t.Fatalf("%v units went out, at most %v may", sum, most)
		}
	})
}

// The server's word on tokens is believed only as far as it can be true.
func TestAbsurdUsageIsNotBooked(t *testing.T) {
	for _, u := range []memoryd.Usage{{PromptTokens: 1 << 40}, {PromptTokens: 10, CompletionTokens: 1 << 40}, {}} {
		if got := booked(1000, 321, u); got != 321 {
			t.Errorf("%+v was believed: %v", u, got)
		}
	}
	if got := booked(4000, 321, memoryd.Usage{PromptTokens: 800, CompletionTokens: 40}); got != 840 {
		t.Errorf("%v tokens are booked, want 840", got)
	}
}
