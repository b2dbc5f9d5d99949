package llm

import (
	"net/http"
	"testing"
	"time"

	"memoryd"

	"pgregory.net/rapid"
)

func TestResetTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"6m0s": 6 * time.Minute, "120ms": 120 * time.Millisecond, "1.5s": 1500 * time.Millisecond, "2m59.56s": 179560 * time.Millisecond,
		"12": 12 * time.Second, "0.25": 250 * time.Millisecond, "0s": 0, " 3s ": 3 * time.Second,
	} {
		if got, ok := resetTime(text); !ok || got != want {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "soon", "-1s", "-3", "NaN", "Inf", "1e12", "2026-01-01T00:00:00Z"} {
		if got, ok := resetTime(text); ok {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

// A bucket's limit and refill are learnt from what it reports, also when the
// limit is for a day.
func TestMeterTellsABucketFromAWindow(t *testing.T) {
	now := time.Unix(1000, 0)
	feed := func(m *headerMeter, used float64, at, reset time.Duration, limit float64) {
		m.take(now.Add(at), 0)
		m.observe(now.Add(at), report{limit: limit, remaining: limit - used, reset: reset},
			mark{order: m.newest + 1, at: now.Add(at), taken: m.taken})
	}
	var bucket, day, window headerMeter
	for i, used := range []float64{5, 10, 20, 40} {
		at := time.Duration(i) * 100 * time.Millisecond
		feed(&bucket, used, at, time.Duration(used/2*1e9), 120)
		feed(&day, used, at, time.Duration(used*6*1e9), 14400)
		feed(&window, used, at, time.Minute-at, 120)
	}
	if bucket.refill != bucketRefill || bucket.rate < 1.9 || bucket.rate > 2 {
		t.Errorf("bucket: %+v", bucket)
	}
	if day.refill != bucketRefill || day.rate < 0.16 || day.rate > 0.167 {
		t.Errorf("day: %+v", day)
	}
	if window.refill != windowRefill {
		t.Errorf("window: %+v", window)
	}
	window.take(now.Add(time.Second), 80)
	if d := window.wait(now.Add(time.Second), 1); d < 58*time.Second || d > 60*time.Second {
		t.Errorf("the window is used up, and the wait %v", d)
	}
	if d := window.wait(now.Add(61*time.Second), 100); d != 0 {
		t.Errorf("in the next window the wait is %v", d)
	}
}

// Whatever a server reports, a headerMeter never waits for longer than an hour and a
// moment, and never below zero.
func TestMeterIsBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1000, 0)
		var m headerMeter
		order := uint64(0)
		for range rapid.IntRange(1, 60).Draw(t, "n") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(90*time.Second)).Draw(t, "dt")))
			n := rapid.Float64Range(0.5, 5000).Draw(t, "units")
			if d := m.wait(now, n); d < 0 || (m.refill != bucketRefill && d > maxReset+resetSlack) {
				t.Fatalf("wait %v", d)
			}
			m.take(now, n)
			order++
			m.observe(now, report{
				limit:     rapid.Float64Range(-10, 1e6).Draw(t, "limit"),
				remaining: rapid.Float64Range(-10, 1e6).Draw(t, "remaining"),
				reset:     time.Duration(rapid.Int64Range(-1e9, 1e14).Draw(t, "reset")),
			}, mark{order, now, m.taken})
		}
	})
}

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
		if r, ok := resetTime(after); ok && r < 0 {
			t.Errorf("reset %v", r)
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
func TestEstimatorIgnoresAbsurdUsage(t *testing.T) {
	for _, u := range []memoryd.Usage{{PromptTokens: 1 << 40}, {PromptTokens: 10, CompletionTokens: 1 << 40}, {}} {
		e := newEstimator()
		before := e
		if got := e.learn(1000, 321, u); got != 321 || e != before {
			t.Errorf("%+v was believed: %v", u, got)
		}
	}
	e := newEstimator()
	for range 100 {
		e.learn(4000, 1, memoryd.Usage{PromptTokens: 800, CompletionTokens: 40})
	}
	if got := e.tokens(4000, 1024); got < 835 || got > 850 {
		t.Errorf("learnt %v tokens, want 840", got)
	}
}
