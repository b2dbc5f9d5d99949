package usage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/llm/usage"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// paid is a model that counts each request in the ledger, as llm's observer does.
type paid struct {
	book  *usage.Ledger
	usage memoryd.Usage
	took  time.Duration
	asked atomic.Int64
}

func (p *paid) Name() string { return "m" }

func (p *paid) Complete(_ context.Context, q memoryd.Prompt) (memoryd.Completion, error) {
	p.asked.Add(1)
	time.Sleep(p.took)
	p.book.Attempt(q.Workspace, q.Tool, "evaluate", "m", true, p.usage)
	return memoryd.Completion{Text: "yes", Usage: p.usage}, nil
}

func complete(m memoryd.Model) error {
	_, err := m.Complete(context.Background(), memoryd.Prompt{Workspace: "w", User: "12345678"})
	return err
}

// refused checks that err is the budget's, and gives its wait.
func refused(t *testing.T, err error) time.Duration {
	t.Helper()
	e, ok := errors.AsType[*memoryd.ModelError](err)
	if !ok || e.Reason != "budget" || !e.Temporary {
		t.Fatalf("got %v", err)
	}
	return e.RetryAfter
}

// atMidnight runs f in a bubble, whose time begins at midnight of UTC.
func atMidnight(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

func TestABudgetHoldsUntilItsWindowEnds(t *testing.T) {
	for name, c := range map[string]struct {
		limit  func(*usage.Config)
		passes int
		window time.Duration
		want   usage.Budget
	}{
		"requests per hour": {func(c *usage.Config) { c.RequestsPerHour = 3 }, 3, time.Hour, usage.Budget{Window: "hour", Unit: "requests", Limit: 3, Used: 3}},
		"requests per day":  {func(c *usage.Config) { c.RequestsPerDay = 3 }, 3, 24 * time.Hour, usage.Budget{Window: "day", Unit: "requests", Limit: 3, Used: 3}},
		"tokens per hour":   {func(c *usage.Config) { c.TokensPerHour = 201 }, 3, time.Hour, usage.Budget{Window: "hour", Unit: "tokens", Limit: 201, Used: 300}},
		"tokens per day":    {func(c *usage.Config) { c.TokensPerDay = 200 }, 2, 24 * time.Hour, usage.Budget{Window: "day", Unit: "tokens", Limit: 200, Used: 200}},
	} {
		t.Run(name, func(t *testing.T) {
			atMidnight(t, func(t *testing.T) {
				b := newLedger(t, mem.New(), c.limit)
				m := &paid{book: b, usage: tokenUsage(90, 10)}
				l := b.Limited(m)
				time.Sleep(20 * time.Minute)
				for i := range c.passes {
					if err := complete(l); err != nil {
						t.Fatalf("request %d: %v", i+1, err)
					}
				}
				wait := refused(t, complete(l))
				if want := c.window - 20*time.Minute; wait != want {
					t.Errorf("wait %v, want %v", wait, want)
				}
				c.want.Resets = time.Now().Add(wait).UTC()
				if got := b.Budgets(); len(got) != 1 || got[0] != c.want {
					t.Errorf("got %+v, want %+v", got, c.want)
				}
				time.Sleep(wait - time.Second)
				if again := refused(t, complete(l)); again != time.Second {
					t.Errorf("a second before the end: %v", again)
				}
				time.Sleep(time.Second)
				if err := complete(l); err != nil || m.asked.Load() != int64(c.passes)+1 {
					t.Errorf("after the window: %v, %d requests", err, m.asked.Load())
				}
			})
		})
	}
}

func TestTheLongestOfTheSpentWindowsIsNamed(t *testing.T) {
	atMidnight(t, func(t *testing.T) {
		b := newLedger(t, mem.New(), func(c *usage.Config) { c.RequestsPerHour, c.RequestsPerDay = 1, 1 })
		l := b.Limited(&paid{book: b})
		if err := complete(l); err != nil {
			t.Fatal(err)
		}
		if wait := refused(t, complete(l)); wait != 24*time.Hour {
			t.Errorf("got %v", wait)
		}
	})
}

func TestRequestsUnderWayCountBeforehand(t *testing.T) {
	atMidnight(t, func(t *testing.T) {
		b := newLedger(t, mem.New(), func(c *usage.Config) { c.RequestsPerHour = 10 })
		m := &paid{book: b, took: time.Minute}
		l := b.Limited(m)
		var all sync.WaitGroup
		var no atomic.Int64
		for range 50 {
			all.Go(func() {
				if complete(l) != nil {
					no.Add(1)
				}
			})
		}
		all.Wait()
		if m.asked.Load() != 10 || no.Load() != 40 {
			t.Errorf("%d requests, %d refused", m.asked.Load(), no.Load())
		}
	})
}

func TestABudgetIsSharedAndOutlivesTheProcess(t *testing.T) {
	atMidnight(t, func(t *testing.T) {
		s := mem.New()
		limit := func(c *usage.Config) { c.RequestsPerHour, c.RequestsPerDay = 3, 5 }
		one := newLedger(t, s, limit)
		one.Start(t.Context())
		two := newLedger(t, s, limit)
		two.Start(t.Context())
		for _, b := range []*usage.Ledger{one, two, one} {
			if err := complete(b.Limited(&paid{book: b})); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second) // what one spent reaches the other with a flush
		refused(t, complete(one.Limited(&paid{book: one})))
		refused(t, complete(two.Limited(&paid{book: two})))
		one.Stop()
		next := newLedger(t, s, limit) // as after a restart
		next.Start(t.Context())
		refused(t, complete(next.Limited(&paid{book: next})))
		time.Sleep(time.Hour)
		for range 2 {
			if err := complete(next.Limited(&paid{book: next})); err != nil {
				t.Fatal(err)
			}
		}
		if wait := refused(t, complete(next.Limited(&paid{book: next}))); wait < 22*time.Hour {
			t.Errorf("five in a day: %v", wait)
		}
		next.Stop()
		two.Stop()
	})
}

func TestABudgetIsReadAsSoonAsTheStoreIsBack(t *testing.T) {
	atMidnight(t, func(t *testing.T) {
		limit := func(c *usage.Config) { c.RequestsPerDay = 1 }
		s := mem.New()
		before := newLedger(t, s, limit)
		before.Start(t.Context())
		if err := complete(before.Limited(&paid{book: before})); err != nil {
			t.Fatal(err)
		}
		before.Stop()
		time.Sleep(5 * time.Hour)
		var down atomic.Bool
		down.Store(true)
		var records store.Records = storetest.NewFaults(s, func(string, storetest.Stage) error {
			if down.Load() {
				return memoryd.Errorf(memoryd.Unavailable, "down")
			}
			return nil
		})
		b := newLedger(t, records, limit)
		b.Start(t.Context())
		if b.Budgets()[0].Used != 0 {
			t.Error("known without the store")
		}
		down.Store(false)
		time.Sleep(time.Minute)
		refused(t, complete(b.Limited(&paid{book: b})))
		b.Stop()
	})
}

func TestWithoutLimitsNothingIsRefused(t *testing.T) {
	b := newLedger(t, mem.New(), nil)
	l := b.Limited(&paid{book: b, usage: tokenUsage(1<<30, 1<<30)})
	for range 100 {
		if err := complete(l); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.Budgets()) != 0 || l.Name() != "m" {
		t.Errorf("got %+v, %q", b.Budgets(), l.Name())
	}
}
