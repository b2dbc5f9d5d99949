package llm_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/llm"
	"memoryd/test/llmtest"
)

// One workspace queues ten thousand requests; another adds ten after 30 s. The
// small one is served as if it were nearly alone.
func TestABigWorkspaceDoesNotStarveASmallOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x").After(2 * time.Second)))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.RequestsPerMinute = 120 })
		m := c.ForOp("op", 0)
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for range 10_000 {
			wg.Go(func() { _, _, _ = ask(ctx, m, "big") }) // cancelled below
		}
		time.Sleep(30 * time.Second)
		var mu sync.Mutex
		var sum time.Duration
		var small sync.WaitGroup
		for range 10 {
			small.Go(func() {
				_, took, err := ask(ctx, m, "small")
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				sum += took
			})
		}
		small.Wait()
		// Alone, ten requests at two a second with a latency of 2 s take 4.25 s
		// on average; every other start belongs to the big workspace.
		if mean := sum / 10; mean > 8500*time.Millisecond {
			t.Errorf("the small workspace waited %v on average", mean)
		}
		cancel()
		wg.Wait()
		if st := c.Stats(); st.Queued != 0 || st.InFlight != 0 {
			t.Errorf("stats after cancellation %+v", st)
		}
	})
}

// A newcomer starts level: being idle for long earns no credit.
func TestIdleTimeEarnsNoCredit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x").After(time.Second)))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.MaxConcurrency = 1 })
		m := c.ForOp("op", 0)
		var mu sync.Mutex
		var order []string
		var wg sync.WaitGroup
		send := func(workspace string, n int) {
			for range n {
				wg.Go(func() {
					if _, _, err := ask(context.Background(), m, workspace); err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					order = append(order, workspace)
				})
			}
		}
		send("a", 40)
		time.Sleep(20 * time.Second)
		send("b", 20)
		wg.Wait()
		b := 0
		for _, w := range order[21:41] {
			if w == "b" {
				b++
			}
		}
		if b < 9 || b > 11 {
			t.Errorf("the newcomer got %d of the next 20 turns, want about 10", b)
		}
	})
}

func TestManyWorkspacesCostNoGoroutineAndNoMemoryForEver(t *testing.T) {
	s := llmtest.New(llmtest.Always(llmtest.Answer("x")))
	c := newClient(t, s, llm.Options{}, nil)
	m := c.ForOp("op", 0)
	before := runtime.NumGoroutine()
	for i := range 5000 {
		if _, _, err := ask(context.Background(), m, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before+2 {
		t.Errorf("%d goroutines became %d", before, after)
	}
	if n := c.Flows(); n > 200 {
		t.Errorf("%d workspaces are remembered", n)
	}
}

func TestSpacingIsBetweenStartsOfOneOp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x").After(time.Second)))
		c := newClient(t, s, llm.Options{}, nil)
		spaced, free := c.ForOp("spaced", 1500*time.Millisecond), c.ForOp("free", 0)
		start := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { _, _, _ = ask(t.Context(), spaced, "w") })
		}
		wg.Go(func() {
			if _, took, _ := ask(t.Context(), free, "w"); took != time.Second {
				t.Errorf("the op without spacing took %v", took)
			}
		})
		wg.Wait()
		if took := time.Since(start); took != 9*1500*time.Millisecond+time.Second {
			t.Errorf("ten spaced requests took %v", took)
		}
	})
}

func TestFullQueueTurnsAwayWhoeverWaitsWithTheMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x").After(time.Second)))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.MaxQueue, c.MaxConcurrency = 10, 1 })
		m := c.ForOp("op", 0)
		var mu sync.Mutex
		refused := map[string]int{}
		var wg sync.WaitGroup
		send := func(workspace string, n int) {
			for range n {
				wg.Go(func() {
					_, _, err := ask(context.Background(), m, workspace)
					if err != nil {
						wantModelError(t, err, "rate_limited", true)
						if !memoryd.IsKind(err, memoryd.Overloaded) {
							t.Errorf("got %v", err)
						}
						mu.Lock()
						defer mu.Unlock()
						refused[workspace]++
					}
				})
			}
			synctest.Wait()
		}
		send("big", 20) // one in flight, ten wait
		send("small", 3)
		wg.Wait()
		if refused["small"] != 0 || refused["big"] != 12 {
			t.Errorf("refused %v, want 12 of the big workspace", refused)
		}
	})
}

func TestCancellationFreesEverything(t *testing.T) {
	for name, wait := range map[string]time.Duration{"in the queue": 0, "in flight": time.Second, "between attempts": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				reply := llmtest.Hang()
				if name == "between attempts" {
					reply = llmtest.TooMany(llmtest.Seconds, 30*time.Second)
				}
				s := llmtest.New(llmtest.Always(reply))
				c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.MaxConcurrency = 1 })
				m := c.ForOp("op", 0)
				gone := errors.New("the caller left")
				ctx, cancel := context.WithCancelCause(context.Background())
				var wg sync.WaitGroup
				for range 5 {
					wg.Go(func() {
						_, took, err := ask(ctx, m, "w")
						wantModelError(t, err, "timeout", true)
						if !errors.Is(err, gone) || took > 2*time.Second {
							t.Errorf("after %v: %v", took, err)
						}
					})
				}
				time.Sleep(wait)
				synctest.Wait()
				cancel(gone)
				wg.Wait()
				if st := c.Stats(); st.Queued != 0 || st.InFlight != 0 || s.Counts().InFlight != 0 {
					t.Errorf("stats %+v, server %+v", st, s.Counts())
				}
				if h := c.Health(); h != "" && name != "between attempts" {
					t.Errorf("health %+v after callers left", h)
				}
			})
		})
	}
}

func TestCloseTurnsAwayWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := llmtest.New(llmtest.Always(llmtest.Answer("x").After(time.Second)))
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.MaxConcurrency = 1 })
		m := c.ForOp("op", 0)
		var wg sync.WaitGroup
		var mu sync.Mutex
		served, closed := 0, 0
		for range 5 {
			wg.Go(func() {
				_, _, err := ask(context.Background(), m, "w")
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					served++
				} else if memoryd.IsKind(err, memoryd.Closed) {
					closed++
				}
			})
		}
		synctest.Wait()
		c.Close()
		c.Close()
		wg.Wait()
		if served != 1 || closed != 4 {
			t.Errorf("%d served and %d turned away, want 1 and 4", served, closed)
		}
		if _, _, err := ask(context.Background(), m, "w"); !memoryd.IsKind(err, memoryd.Closed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// The window adapts: it grows while replies are good, and a time-out halves it.
func TestConcurrencyAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := false
		var mu sync.Mutex
		s := llmtest.New(func(llmtest.Request) llmtest.Reply {
			mu.Lock()
			defer mu.Unlock()
			if slow {
				return llmtest.Hang()
			}
			return llmtest.Answer("x").After(time.Second)
		})
		c := newClient(t, s, llm.Options{}, func(c *llm.Config) { c.MaxConcurrency = 16 })
		m := c.ForOp("op", 0)
		if got := c.Stats().Concurrency; got != 2 {
			t.Errorf("starts with %d", got)
		}
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { _, _, _ = ask(t.Context(), m, "w") })
		}
		wg.Wait()
		if got := c.Stats().Concurrency; got != 16 || s.Counts().MaxInFlight != 16 {
			t.Errorf("grew to %d, the server saw %d", got, s.Counts().MaxInFlight)
		}
		mu.Lock()
		slow = true
		mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), 61*time.Second)
		defer cancel()
		if _, _, err := ask(ctx, m, "w"); err == nil {
			t.Error("a hanging server answered")
		}
		if got := c.Stats().Concurrency; got != 8 {
			t.Errorf("%d after a time-out, want 8", got)
		}
	})
}
