package spool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/mem"
	"memoryd/store/spool"
	"memoryd/store/wrap"
)

func ref(tool string) memoryd.ToolRef { return memoryd.ToolRef{Workspace: "w", Tool: tool} }

var epoch = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// pending is a call of its own that waits for its judge.
func pending(tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: ref(tool), Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, n)), Output: "broken \xff and \x00",
		CreateTime: fmt.Sprint(n), Time: epoch.Add(time.Duration(n) * time.Second), Evaluation: memoryd.PendingEvaluation(),
	}
	c.Key = memoryd.Identity{ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime}.Key()
	c.Hash = memoryd.HashOf(c.Input, c.Output)
	return c
}

func calls(tool string, from, to int) (out []memoryd.Call) {
	for n := from; n <= to; n++ {
		out = append(out, pending(tool, n))
	}
	return out
}

func add(t testing.TB, s store.Store, keep int, calls ...memoryd.Call) []store.Appended {
	t.Helper()
	got, err := s.Append(t.Context(), store.Batch{Workspace: calls[0].Workspace, Calls: calls, Keep: keep})
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	return got
}

func verdict(c memoryd.Call, score float64) store.Verdict {
	return store.Verdict{ToolRef: c.ToolRef, Key: c.Key, Evaluation: memoryd.Evaluation{
		State: memoryd.Judged, Score: score, Summary: "s", JudgedBy: "rules", JudgedAt: epoch,
	}}
}

func settle(t testing.TB, s store.Store, vs ...store.Verdict) {
	t.Helper()
	got, err := s.Settle(t.Context(), vs)
	if err != nil {
		t.Fatalf("settle: %v", err)
	}
	for i := range got {
		if !got[i] {
			t.Errorf("verdict %d was not written", i)
		}
	}
}

func drain(t testing.TB, s *spool.Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := s.Drain(ctx); err != nil {
		t.Fatalf("drain: %v", err)
	}
}

// history gives the tool's calls as "1:pending 2:judged", by their create times.
func history(t testing.TB, s store.Store, tool string) string {
	t.Helper()
	got, err := s.History(t.Context(), ref(tool), 0)
	if err != nil {
		t.Fatalf("history: %v", err)
	}
	var out []string
	last := int64(0)
	for _, c := range got {
		if c.Seq <= last {
			t.Errorf("number %d after %d", c.Seq, last)
		}
		last = c.Seq
		out = append(out, c.CreateTime+":"+string(c.Evaluation.State))
	}
	return strings.Join(out, " ")
}

func wantHistory(t testing.TB, s store.Store, tool, want string) {
	t.Helper()
	if got := history(t, s, tool); got != want {
		t.Errorf("%s: got history %q, want %q", tool, got, want)
	}
}

func describe(t testing.TB, s store.Store, tool string) memoryd.Tool {
	t.Helper()
	got, err := s.Tool(t.Context(), ref(tool))
	if err != nil {
		t.Fatalf("tool: %v", err)
	}
	return got
}

func wantKind(t testing.TB, err error, kind memoryd.Kind) {
	t.Helper()
	if !memoryd.IsKind(err, kind) {
		t.Errorf("got %v, want %s", err, kind)
	}
}

// link is a remote store whose connection a test cuts: all of it, or only what
// forwards.
type link struct {
	*wrap.Faults
	cut, noForwarding atomic.Bool
	appends           atomic.Int64
}

func newLink(inner store.Store) *link {
	l := &link{}
	l.Faults = &wrap.Faults{Store: inner, Fail: func(method string, stage wrap.Stage) error {
		forwards := journaled[method] || method == "DeleteWorkspace"
		if method != "Close" && (l.cut.Load() || forwards && l.noForwarding.Load()) {
			return memoryd.Errorf(memoryd.Unavailable, "the line is cut")
		}
		if method == "Append" && stage == wrap.After {
			l.appends.Add(1)
		}
		return nil
	}}
	return l
}

// brief gives up on the remote store soon.
func brief() spool.Config {
	cfg := quick()
	cfg.RemoteWait = 5 * time.Millisecond
	return cfg
}

func TestRemoteAwayFromTheStart(t *testing.T) {
	remote := newLink(lasting{mem.New()})
	remote.cut.Store(true)
	s := open(t, mem.New(), remote, brief())
	got := add(t, s, 3, calls("t", 1, 4)...)
	for i, a := range got {
		if want := (store.Appended{New: true, FirstOfTool: true, Seq: int64(i) + 1}); a != want {
			t.Errorf("call %d: got %+v", i, a)
		}
	}
	if a := add(t, s, 3, pending("t", 1))[0]; a.New {
		t.Error("a call was accepted twice")
	}
	settle(t, s, verdict(pending("t", 3), 1))
	wantHistory(t, s, "t", "2:pending 3:judged 4:pending")
	if got := describe(t, s, "t"); got.Lifetime != 4 || got.Kept != 3 || got.Pending != 2 {
		t.Errorf("got %+v", got)
	}
	if got, err := s.ListTools(t.Context(), "w", "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := s.ListWorkspaces(t.Context(), "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := s.SearchTools(t.Context(), "w", "T", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	wantKind(t, s.PutGuideline(t.Context(), ref("t"), memoryd.Guideline{Content: "x"}, 0), memoryd.Unavailable)
	_, err := s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{Kind: "note", ID: "1"}})
	wantKind(t, err, memoryd.Unavailable)
	_, err = s.Record(t.Context(), store.RecordKey{Kind: "note", ID: "1"})
	wantKind(t, err, memoryd.Unavailable)
	_, err = s.Tool(t.Context(), ref("unknown here"))
	wantKind(t, err, memoryd.Unavailable)
	if claimed, err := s.Claim(t.Context(), epoch, time.Minute, 9); err != nil || len(claimed) != 2 {
		t.Errorf("claimed %v, %v", claimed, err)
	}
	if !s.Status().Away || s.Status().Operations != 3 {
		t.Errorf("got %+v", s.Status())
	}
	remote.cut.Store(false)
	drain(t, s)
	wantHistory(t, remote.Store, "t", "2:pending 3:judged 4:pending")
	if got := describe(t, remote.Store, "t"); got.Lifetime != 4 || got.Revision != 5 {
		t.Errorf("got %+v", got)
	}
}

// While only writes fail, reads show what both sides have.
func TestReadsMergeWhatWaits(t *testing.T) {
	inner := lasting{mem.New()}
	other := pending("t", 100)
	add(t, inner, 9, other, pending("u", 1))
	remote := newLink(inner)
	s := open(t, mem.New(), remote, brief())
	add(t, s, 9, pending("t", 1))
	drain(t, s)
	remote.noForwarding.Store(true)
	add(t, s, 3, pending("t", 2), pending("t", 3), pending("v", 1))
	settle(t, s, verdict(pending("t", 1), 1))
	if err := s.DeleteTool(t.Context(), ref("u")); err != nil {
		t.Fatal(err)
	}
	reads(t, s)
	remote.noForwarding.Store(false)
	drain(t, s)
	reads(t, s)
	wantHistory(t, inner, "t", "1:judged 2:pending 3:pending")
}

// reads checks the merged state, before and after it was forwarded.
func reads(t *testing.T, s *spool.Store) {
	t.Helper()
	wantHistory(t, s, "t", "1:judged 2:pending 3:pending")
	if got := describe(t, s, "t"); got.Lifetime != 4 || got.Kept != 3 || got.Pending != 2 || got.Revision != 5 {
		t.Errorf("got %+v", got)
	}
	if got, err := s.Samples(t.Context(), ref("t")); err != nil || len(got) != 3 || got[0].State != memoryd.Judged {
		t.Errorf("got %+v, %v", got, err)
	}
	got, err := s.ListTools(t.Context(), "w", "", 9)
	if err != nil || len(got) != 2 || got[0].Tool != "t" || got[1].Tool != "v" || got[0].Lifetime != 4 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.ListTools(t.Context(), "w", "t", 1); err != nil || len(got) != 1 || got[0].Tool != "v" {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.SearchTools(t.Context(), "w", "t v u", 9); err != nil || len(got) != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := s.ListWorkspaces(t.Context(), "", 9); err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	_, err = s.Tool(t.Context(), ref("u"))
	wantKind(t, err, memoryd.NotFound)
	wantHistory(t, s, "u", "")
}

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
		cfg := spool.DefaultConfig()
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
	inner := lasting{mem.New()}
	remote := &wrap.Faults{Store: inner}
	s := open(t, mem.New(), refusing{remote}, quick())
	add(t, s, 9, pending("t", 1))
	add(t, s, 9, pending("bad", 1))
	add(t, s, 9, pending("t", 2))
	drain(t, s)
	wantHistory(t, inner, "t", "1:pending 2:pending")
	wantHistory(t, inner, "bad", "")
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
	s, err := spool.New(mem.New(), mem.New(), quick(), slog.New(slog.DiscardHandler), time.Now)
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
	if err := spool.DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for key, spoil := range map[string]func(*spool.Config){
		"max_backlog":     func(c *spool.Config) { c.MaxBacklog = 0 },
		"forward_batch":   func(c *spool.Config) { c.ForwardBatch = 0 },
		"retry_min":       func(c *spool.Config) { c.RetryMin = 0 },
		"retry_max":       func(c *spool.Config) { c.RetryMax = c.RetryMin - 1 },
		"repair_interval": func(c *spool.Config) { c.RepairInterval = -1 },
		"remote_wait":     func(c *spool.Config) { c.RemoteWait = 0 },
	} {
		c := spool.DefaultConfig()
		spoil(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
	}
}
