package journal_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/journal"
	"memoryd/store/mem"
)

// slow takes its time, unless the context ends before.
type slow struct {
	store.Store
	d time.Duration
}

func (s slow) wait(ctx context.Context) error {
	select {
	case <-time.After(s.d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s slow) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Store.Append(ctx, b)
}

func (s slow) Tool(ctx context.Context, r memoryd.ToolRef) (memoryd.Tool, error) {
	if err := s.wait(ctx); err != nil {
		return memoryd.Tool{}, err
	}
	return s.Store.Tool(ctx, r)
}

func TestNobodyWaitsLongForASlowRemote(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := configtest.Section[journal.Config]("store.journal")
		inner := mem.New()
		s := open(t, mem.New(), slow{inner, 20 * time.Second}, cfg)
		took := func(f func()) time.Duration {
			from := time.Now()
			f()
			return time.Since(from)
		}
		if d := took(func() { add(t, s, 9, pending("t", 1)) }); d != cfg.RemoteWait {
			t.Errorf("the first append took %v", d)
		}
		if d := took(func() { add(t, s, 9, pending("t", 2)) }); d != 0 {
			t.Errorf("the second append took %v", d)
		}
		var got memoryd.Tool
		if d := took(func() { got = describe(t, s, "t") }); d != cfg.RemoteWait || got.Lifetime != 2 {
			t.Errorf("the tool took %v: %+v", d, got)
		}
		if d := took(func() { got = describe(t, s, "t") }); d != 0 || got.Lifetime != 2 {
			t.Errorf("the tool took %v: %+v", d, got)
		}
		drain(t, s)
		wantHistory(t, inner, "t", "1:pending 2:pending")
	})
}

func TestTheBacklogIsBounded(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	remote.cut.Store(true)
	cfg := brief()
	cfg.MaxBacklog = 10
	s := open(t, mem.New(), remote, cfg)
	add(t, s, 99, calls("t", 1, 8)...)
	_, err := s.Append(t.Context(), store.Batch{Workspace: "w", Calls: calls("t", 9, 11), Keep: 99})
	wantKind(t, err, memoryd.Overloaded)
	add(t, s, 99, calls("t", 9, 10)...)
	wantKind(t, s.Ping(t.Context()), memoryd.Overloaded)
	remote.cut.Store(false)
	drain(t, s)
	if err := s.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	add(t, s, 99, calls("t", 11, 40)...) // alone, any batch fits
	if got := describe(t, s, "t").Lifetime; got != 40 {
		t.Errorf("%d calls", got)
	}
}

func TestWhatWaitsGoesInBatches(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	remote.cut.Store(true)
	cfg := brief()
	cfg.ForwardBatch = 50
	s := open(t, mem.New(), remote, cfg)
	for n := range 200 {
		add(t, s, 500, pending(fmt.Sprint("t", n%3), n))
	}
	remote.cut.Store(false)
	drain(t, s)
	if n := remote.appends.Load(); n != 4 {
		t.Errorf("200 calls went in %d requests, want 4", n)
	}
	if got := describe(t, remote.Store, "t0"); got.Lifetime != 67 {
		t.Errorf("got %+v", got)
	}
}

// An operation that the remote store can never take holds nobody up.
func TestARefusedOperationIsPutAside(t *testing.T) {
	local, inner := mem.New(), lasting{mem.New()}
	s := open(t, local, refusing{inner}, quick())
	add(t, s, 9, pending("t", 1))
	add(t, s, 9, pending("bad", 1))
	add(t, s, 9, pending("t", 2))
	drain(t, s)
	wantHistory(t, inner, "t", "1:pending 2:pending")
	wantHistory(t, inner, "bad", "")
	aside, err := local.ListRecords(t.Context(), store.RecordKey{Kind: "spool_parked"}, 9)
	if err != nil || len(aside) != 1 {
		t.Errorf("%d operations were put aside, %v", len(aside), err)
	}
}

// refusing finds the tool "bad" invalid.
type refusing struct{ store.Store }

func (r refusing) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	for i := range b.Calls {
		if b.Calls[i].Tool == "bad" {
			return nil, memoryd.Errorf(memoryd.Invalid, "bad")
		}
	}
	return r.Store.Append(ctx, b)
}

func TestLifecycle(t *testing.T) {
	s, err := journal.New(mem.New(), mem.New(), quick(), slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Stop()
	s.Start(t.Context()) // never starts
	add(t, s, 9, pending("t", 1))
	s.Stop()
	if s.Status().Operations != 1 {
		t.Errorf("got %+v", s.Status())
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	wantKind(t, s.Ping(t.Context()), memoryd.Closed)
}

func TestConfig(t *testing.T) {
	if err := configtest.Section[journal.Config]("store.journal").Validate(); err != nil {
		t.Error(err)
	}
	for key, spoil := range map[string]func(*journal.Config){
		"max_backlog":     func(c *journal.Config) { c.MaxBacklog = 0 },
		"forward_batch":   func(c *journal.Config) { c.ForwardBatch = 0 },
		"retry_min":       func(c *journal.Config) { c.RetryMin = 0 },
		"retry_max":       func(c *journal.Config) { c.RetryMax = c.RetryMin - 1 },
		"repair_interval": func(c *journal.Config) { c.RepairInterval = -1 },
		"remote_wait":     func(c *journal.Config) { c.RemoteWait = 0 },
	} {
		c := configtest.Section[journal.Config]("store.journal")
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}
