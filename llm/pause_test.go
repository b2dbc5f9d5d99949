package llm_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/llm"
	"memoryd/test/llmtest"

	"pgregory.net/rapid"
)

// gaps gives the times between the server's requests.
func gaps(s *llmtest.Server) []time.Duration {
	var out []time.Duration
	all := s.Requests()
	for i := 1; i < len(all); i++ {
		out = append(out, all[i].Time.Sub(all[i-1].Time))
	}
	return out
}

func TestRetryAfterIsKept(t *testing.T) {
	const wait = 2500 * time.Millisecond
	tests := map[string]struct {
		reply       llmtest.Reply
		least, most time.Duration
	}{
		"seconds":          {llmtest.TooMany(llmtest.Seconds, wait), 3 * time.Second, 3300 * time.Millisecond},
		"decimal":          {llmtest.TooMany(llmtest.Decimal, wait), wait, 2800 * time.Millisecond},
		"milliseconds":     {llmtest.TooMany(llmtest.Millis, wait), wait, 2800 * time.Millisecond},
		"zero":             {llmtest.Status(429, http.Header{"Retry-After": {"0"}}), 500 * time.Millisecond, 600 * time.Millisecond},
		"on a 503":         {llmtest.Status(503, http.Header{"Retry-After": {"20"}}), 20 * time.Second, 22 * time.Second},
		"none":             {llmtest.TooMany(llmtest.None, 0), 0, time.Second},
		"garbage":          {llmtest.TooMany(llmtest.Garbage, wait), 0, time.Second},
		"negative":         {llmtest.TooMany(llmtest.Negative, wait), 0, time.Second},
		"not a number":     {llmtest.TooMany(llmtest.NotANumber, wait), 0, time.Second},
		"a date long past": {llmtest.Status(429, http.Header{"Retry-After": {"Sun, 06 Nov 1994 08:49:37 GMT"}}), 0, time.Second},
		// The reply's own Date, far from our clock, is what the date counts from.
		"date by a wrong clock": {llmtest.Status(429, http.Header{
			"Date": {"Mon, 02 Jan 2040 15:04:05 GMT"}, "Retry-After": {"Mon, 02 Jan 2040 15:04:12 GMT"},
		}), 7 * time.Second, 8 * time.Second},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := llmtest.New(llmtest.Script(tc.reply, llmtest.Answer("x")))
				c := newClient(t, s, llm.Options{}, nil)
				if _, _, err := ask(context.Background(), c.ForOp("op", 0), "w"); err != nil {
					t.Fatal(err)
				}
				if g := gaps(s); len(g) != 1 || g[0] < tc.least || g[0] > tc.most {
					t.Errorf("gaps %v, want one of %v to %v", g, tc.least, tc.most)
				}
			})
		})
	}
}

func TestADateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Script(llmtest.TooMany(llmtest.HTTPDate, 5*time.Second), llmtest.Answer("x")))
		c := newClient(t, s, llm.Options{}, nil)
		if _, _, err := ask(context.Background(), c.ForOp("op", 0), "w"); err != nil {
			t.Fatal(err)
		}
		if g := gaps(s); len(g) != 1 || g[0] < 5*time.Second || g[0] > 7*time.Second {
			t.Errorf("gaps %v", g)
		}
	})
}

// Whatever wait a server names, in whatever form, no request of the whole
// client starts before.
func TestNoRequestStartsBeforeTheNamedTime(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		form := rapid.SampledFrom([]llmtest.RetryAfter{llmtest.Seconds, llmtest.Decimal, llmtest.Millis, llmtest.HTTPDate}).Draw(rt, "form")
		wait := time.Duration(rapid.Int64Range(int64(500*time.Millisecond), int64(100*time.Second)).Draw(rt, "wait"))
		at := rapid.IntRange(1, 8).Draw(rt, "refused")
		status := rapid.SampledFrom([]int{429, 503, 529}).Draw(rt, "status")
		early := 0
		synctest.Test(t, func(t *testing.T) {
			var refused, until time.Time
			var mu sync.Mutex
			s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
				mu.Lock()
				defer mu.Unlock()
				if r.Time.After(refused) && r.Time.Before(until) {
					early++
				}
				if r.N == at {
					refused, until = r.Time, r.Time.Add(wait)
					refusal := llmtest.TooMany(form, wait)
					refusal.Status = status
					return refusal
				}
				return llmtest.Answer("x").After(time.Second)
			})
			c := newClient(t, s, llm.Options{}, nil)
			m := c.ForOp("op", 0)
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					if _, _, err := ask(context.Background(), m, "w"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
		if early > 0 {
			rt.Fatalf("%d requests came before the named time", early)
		}
	})
}

// A pause that is longer than a request may take is not waited for: the caller
// hears when to come back.
func TestALongPauseIsHandedToTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Script(llmtest.TooMany(llmtest.Huge, 0), llmtest.Answer("x")))
		c := newClient(t, s, llm.Options{}, nil)
		m := c.ForOp("op", 0)
		_, took, err := ask(context.Background(), m, "w")
		e := wantModelError(t, err, "rate_limited", true)
		if took != 0 || e.RetryAfter < time.Hour || e.RetryAfter > time.Hour+time.Second {
			t.Errorf("took %v, retry after %v; want at once and an hour", took, e.RetryAfter)
		}
		if h := c.Health(); h != "rate_limited" {
			t.Errorf("health %q", h)
		}
		time.Sleep(e.RetryAfter)
		if _, _, err := ask(context.Background(), m, "w"); err != nil || c.Health() != "" {
			t.Errorf("after the pause: %v, %q", err, c.Health())
		}
	})
}

// A server that refuses for hours is asked less and less often.
func TestEndlessRefusalIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.TooMany(llmtest.None, 0)))
		c := newClient(t, s, llm.Options{}, nil)
		m := c.ForOp("op", 0)
		ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
		defer cancel()
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _, err := ask(ctx, m, fmt.Sprint(i))
					if err == nil {
						t.Error("no error from a server that only refuses")
					}
				}
			})
		}
		wg.Wait()
		if n := s.Counts().Requests; n > 500 {
			t.Errorf("%d requests in an hour to a server that refuses", n)
		}
	})
}
