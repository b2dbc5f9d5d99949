package llm_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/llm"
	"memoryd/test/llmtest"
)

// A terminal fault stops everybody, is said once, is probed after minutes by
// one request at a time, and ends when a probe succeeds.
func TestTerminalFaultsStopThePool(t *testing.T) {
	tests := map[string]struct {
		reply  llmtest.Reply
		reason string
		health string
	}{
		"key":   {llmtest.Status(401, nil), "credentials", "credentials"},
		"quota": {llmtest.QuotaExceeded(), "quota", "quota"},
		"model": {llmtest.Status(404, nil), "unknown_model", "unknown_model"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool
				broken.Store(true)
				s := llmtest.New(func(llmtest.Request) llmtest.Reply {
					if broken.Load() {
						return tc.reply.After(time.Second)
					}
					return llmtest.Answer("x").After(time.Second)
				})
				var log bytes.Buffer
				c := newClient(t, s, llm.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}, nil)
				m := c.ForOp("op", 0)
				flood := func() {
					var wg sync.WaitGroup
					for range 50 {
						wg.Go(func() {
							_, _, err := ask(context.Background(), m, "w")
							if e := wantModelError(t, err, tc.reason, false); e.RetryAfter > 5*time.Minute {
								t.Errorf("retry after %v", e.RetryAfter)
							}
						})
					}
					wg.Wait()
				}
				flood()
				if n := s.Counts().Requests; n > 2 { // what was in flight at the first answer
					t.Errorf("%d requests before the pool stopped", n)
				}
				first := s.Counts().Requests
				flood()
				time.Sleep(5*time.Minute + time.Second)
				flood()
				if n := s.Counts().Requests - first; n != 1 {
					t.Errorf("%d requests after five minutes, want one probe", n)
				}
				checkStopped(t, c, tc.health, log.String())
				broken.Store(false)
				time.Sleep(5*time.Minute + time.Second)
				if _, _, err := ask(context.Background(), m, "w"); err != nil || c.Health() != "" {
					t.Errorf("after the cure: %v, %q", err, c.Health())
				}
				if strings.Count(log.String(), "answers again") != 1 {
					t.Errorf("log: %s", log.String())
				}
			})
		})
	}
}

func checkStopped(t *testing.T, c *llm.Client, reason, log string) {
	t.Helper()
	h := c.Health()
	if h != reason {
		t.Errorf("health %q", h)
	}
	if n := strings.Count(log, "level=ERROR"); n != 1 {
		t.Errorf("said %d times: %s", n, log)
	}
	if strings.Contains(log, testKey) {
		t.Error("the key is in the log")
	}
}

func TestBreakerOpensAndCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		down.Store(true)
		s := llmtest.New(func(llmtest.Request) llmtest.Reply {
			if down.Load() {
				return llmtest.Status(503, nil)
			}
			return llmtest.Answer("x")
		})
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.BreakerFailures = 3 })
		m := c.ForOp("op", 0)
		_, _, err := ask(context.Background(), m, "w")
		if e := wantModelError(t, err, "server", true); e.RetryAfter < time.Second || s.Counts().Requests != 3 {
			t.Errorf("retry after %v, %d requests", e.RetryAfter, s.Counts().Requests)
		}
		if h := c.Health(); h != "breaker_open" {
			t.Errorf("health %q", h)
		}
		_, took, err := ask(context.Background(), m, "w")
		wantModelError(t, err, "server", true)
		if took != 0 || s.Counts().Requests != 3 {
			t.Errorf("an open breaker answered after %v and let %d requests through", took, s.Counts().Requests)
		}
		down.Store(false)
		time.Sleep(6 * time.Second)
		if _, _, err := ask(context.Background(), m, "w"); err != nil || c.Health() != "" {
			t.Errorf("after the outage: %v, %q", err, c.Health())
		}
	})
}

// An outage of a day, with work waiting all the time: the retries stay within
// their budget and the server is probed at most every few seconds.
func TestOutageMakesNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Status(500, nil)))
		c := newClient(t, s, llm.Options{}, nil)
		m := c.ForOp("op", 0)
		ctx, cancel := context.WithTimeout(context.Background(), 24*time.Hour)
		defer cancel()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for ctx.Err() == nil {
					_, _, err := ask(ctx, m, "w")
					if err == nil {
						t.Error("no error in an outage")
					}
					time.Sleep(time.Second)
				}
			})
		}
		wg.Wait()
		if n := s.Counts().Requests; n > 24*60*3 {
			t.Errorf("%d requests in a day of outage", n)
		}
	})
}

// A server that fails now and then: the retries stay within a tenth of the
// first attempts, one per ten seconds, and the start balance.
func TestRetryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
			if r.N%2 == 0 {
				return llmtest.Status(500, nil)
			}
			return llmtest.Answer("x")
		})
		c := newClient(t, s, llm.Options{}, nil)
		m := c.ForOp("op", 0)
		start := time.Now()
		const first = 1000
		for range first {
			_, _, _ = ask(context.Background(), m, "w") // half of them fail
		}
		most := int64(first/10) + int64(time.Since(start)/(10*time.Second)) + 1 + 5
		if got := c.Stats().Retries; got > most || got < first/10 {
			t.Errorf("%d retries of %d, want %d to %d", got, first, first/10, most)
		}
	})
}

func TestFallbackModels(t *testing.T) {
	tests := map[string]struct {
		first llmtest.Reply
		asked string // the models asked, in order, by two requests
	}{
		"unknown model":  {llmtest.Status(404, nil), "a b b"},
		"a long pause":   {llmtest.TooMany(llmtest.Seconds, time.Minute), "a b b"},
		"a short pause":  {llmtest.TooMany(llmtest.Seconds, 2*time.Second), "a a a"},
		"failing":        {llmtest.Status(503, nil), "a a b b"},
		"the key is bad": {llmtest.Status(401, nil), "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failed atomic.Int32
				s := llmtest.New(func(r llmtest.Request) llmtest.Reply {
					if r.Model == "a" && (name != "a short pause" || failed.Add(1) == 1) {
						return tc.first
					}
					return llmtest.Answer("x")
				})
				c := newClient(t, s, llm.Options{}, func(c *llm.Config) {
					c.ModelName, c.FallbackModels, c.BreakerFailures = "a", []string{"b", "c"}, 2
				})
				m := c.ForOp("op", 0)
				for range 2 {
					_, _, err := ask(context.Background(), m, "w")
					if bad := name == "the key is bad"; (err != nil) != bad {
						t.Errorf("got %v", err)
					}
				}
				var asked []string
				for _, r := range s.Requests() {
					asked = append(asked, r.Model)
				}
				if got := strings.Join(asked, " "); got != tc.asked {
					t.Errorf("asked %q, want %q", got, tc.asked)
				}
			})
		})
	}
}
