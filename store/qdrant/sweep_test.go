package qdrant_test

import (
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	"google.golang.org/grpc/codes"
)

// What is forgotten is counted still, at each step of the way and also when a
// sweep breaks off between its writes.
func TestSweepsForgetAndCountOn(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	cfg := fakeConfig()
	cfg.Remember, cfg.Retries = 50, 0
	s := openFake(t, server, cfg, qdrant.WithGrace(0))
	const keep, total = 5, 300
	for n := range total {
		c := call("t", n%100, 10) // each content comes three times
		c.CreateTime = time.Unix(int64(n), 0).String()
		c.Key[0], c.Key[1], c.Key[2] = byte(n), byte(n>>8), 77
		if _, err := add(t.Context(), s, keep, c); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := add(t.Context(), s, 5, call("u", 1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteTool(t.Context(), ref("u")); err != nil {
		t.Fatal(err)
	}
	if _, err := add(t.Context(), s, keep, call("t", 1000, 10), call("t", 1001, 10)); err != nil {
		t.Fatal(err)
	}
	want, err := s.Tool(t.Context(), ref("t"))
	if err != nil || want.Lifetime != total+2 || want.Duplicates != 200 {
		t.Fatalf("got %+v, %v", want, err)
	}
	before := server.Points(cfg.Prefix + "calls")
	var writes atomic.Int64
	for broken := range int64(12) {
		writes.Store(0)
		server.Inject(func(method string) qdranttest.Fault {
			if (method == "SetPayload" || method == "Delete") && writes.Add(1) == broken {
				return qdranttest.Fault{Code: codes.Unavailable, LostAck: broken%2 == 0}
			}
			return qdranttest.Fault{}
		})
		if err := s.Sweep(t.Context()); err != nil && !memoryd.IsKind(err, memoryd.Unavailable) {
			t.Fatal(err)
		}
		server.Inject(nil)
		got, err := s.Tool(t.Context(), ref("t"))
		if err != nil || got != want {
			t.Fatalf("sweep %d: got %+v, %v, want %+v", broken, got, err, want)
		}
	}
	if after := server.Points(cfg.Prefix + "calls"); after >= before/2 {
		t.Errorf("%d of %d points are left", after, before)
	}
	if got, err := add(t.Context(), s, keep, call("t", 1000, 10)); err != nil || got[0].New {
		t.Errorf("a kept call was accepted again: %+v, %v", got, err)
	}
}

func TestCachedVerdictsAreBounded(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	cfg := fakeConfig()
	cfg.VerdictCache = 100
	s := openFake(t, server, cfg)
	e := memoryd.Evaluation{State: memoryd.Judged, Score: 1}
	for n := range 1000 {
		if err := s.CacheVerdict(t.Context(), [16]byte{byte(n), byte(n >> 8)}, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := server.Points(cfg.Prefix + "docs"); n > 101 { // and the lease
		t.Errorf("%d documents are left", n)
	}
	if _, err := s.CachedVerdict(t.Context(), [16]byte{231, 3}); err != nil {
		t.Errorf("the newest verdict: %v", err)
	}
}

// TestWhatComesWhileAHistoryIsClearedIsClearedToo holds a clearing up while batches come:
// nobody else is told to clear those, so they would stay until the next append. Who brings many
// waits for it: else more calls come than are cleared.
func TestWhatComesWhileAHistoryIsClearedIsClearedToo(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig())
	batch := func(from, n int) {
		t.Helper()
		calls := make([]memoryd.Call, n)
		for i := range calls {
			calls[i] = call("t", from+i, 1)
		}
		if _, err := add(t.Context(), s, 10, calls...); err != nil {
			t.Error(err)
		}
	}
	batch(1000, 1) // makes the tool
	entered, release := make(chan struct{}), make(chan struct{})
	var writes atomic.Int64
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Upsert" && writes.Add(1) == 2 { // after the batch's: of what it pushed out
			close(entered)
			<-release
		}
		return qdranttest.Fault{}
	})
	batch(0, 40)
	<-entered
	batch(100, 40)
	many := make(chan struct{})
	go func() {
		defer close(many)
		batch(200, 100)
	}()
	select {
	case <-many:
		t.Error("who brought many did not wait until the history was cleared")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	<-many
	cleared(t, s)
	if n := s.Bodies(t.Context(), ref("t")); n != 10 {
		t.Errorf("%d calls have their bodies, want 10", n)
	}
}
