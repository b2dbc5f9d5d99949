package qdrant_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/store/storetest"
	"memoryd/test/qdranttest"

	"google.golang.org/grpc/codes"
)

// noWait is a sleep of no time, so that retries take none in tests.
func noWait(ctx context.Context, _ time.Duration) error { return context.Cause(ctx) }

// troubles makes a part of all requests fail, in each way that can be retried.
func troubles(seed uint64) func(string) qdranttest.Fault {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 1))
	return func(string) qdranttest.Fault {
		mu.Lock()
		defer mu.Unlock()
		switch rng.IntN(12) {
		case 0:
			return qdranttest.Fault{Code: codes.Unavailable}
		case 1, 2:
			return qdranttest.Fault{LostAck: true}
		case 3:
			return qdranttest.Fault{Code: codes.ResourceExhausted, RetryAfter: 1}
		}
		return qdranttest.Fault{}
	}
}

func patientConfig() qdrant.Config {
	cfg := fakeConfig()
	cfg.Retries = 100
	return cfg
}

func TestStoreInTrouble(t *testing.T) {
	b, server := fakeBackend(t, versions[0], patientConfig(), qdrant.WithSleep(noWait))
	server.Inject(troubles(7))
	storetest.Run(t, b)
}

func TestModelInTrouble(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStoreInTrouble runs the same operations")
	}
	b, server := fakeBackend(t, versions[0], patientConfig(), qdrant.WithSleep(noWait))
	server.Inject(troubles(8))
	storetest.Model(t, b)
}

// With replicas, each read that decides something asks a majority of them: that
// single replicas lag behind changes nothing.
func TestStoreWithReplicasThatLag(t *testing.T) {
	if testing.Short() {
		t.Skip("TestStoreInTrouble runs the same suite")
	}
	cfg := fakeConfig()
	cfg.ReplicationFactor, cfg.WriteConsistencyFactor = 3, 2
	b, server := fakeBackend(t, versions[1], cfg)
	server.Lag()
	server.Inject(func(string) qdranttest.Fault { return qdranttest.Fault{Stale: true} })
	storetest.Run(t, b)
}

// The control of the test above: what does not ask a majority is misled.
func TestReadsOfOneReplicaAreMisled(t *testing.T) {
	server := qdranttest.New(t, versions[1])
	s := openFake(t, server, fakeConfig())
	server.Lag()
	for n := range 2 {
		if _, err := add(t.Context(), s, 9, call("t", n, 1)); err != nil {
			t.Fatal(err)
		}
	}
	server.Inject(func(method string) qdranttest.Fault { return qdranttest.Fault{Stale: method == "Count"} })
	if tool, err := s.Tool(t.Context(), ref("t")); err != nil || tool.Lifetime != 1 {
		t.Errorf("got %+v, %v, want the state before the newest write", tool, err)
	}
}

func TestRetriesHonourTheServersTime(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var slept []time.Duration
	sleep := func(_ context.Context, d time.Duration) error {
		slept = append(slept, d)
		return nil
	}
	cfg := fakeConfig()
	s := openFake(t, server, cfg, qdrant.WithSleep(sleep))
	var left atomic.Int64
	left.Store(2)
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Get" && left.Add(-1) >= 0 {
			return qdranttest.Fault{Code: codes.ResourceExhausted, RetryAfter: 7}
		}
		return qdranttest.Fault{}
	})
	if err := s.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(slept) != 2 || slept[0] < 7*time.Second || slept[1] < 7*time.Second {
		t.Errorf("slept %v, want twice seven seconds", slept)
	}
}

func TestFailuresHaveKinds(t *testing.T) {
	tests := map[string]struct {
		fault    qdranttest.Fault
		kind     memoryd.Kind
		tries    int64
		after    time.Duration
		sentence string
	}{
		"away":         {qdranttest.Fault{Code: codes.Unavailable}, memoryd.Unavailable, 4, 0, "reached"},
		"rate limited": {qdranttest.Fault{Code: codes.ResourceExhausted, RetryAfter: 60}, memoryd.Unavailable, 1, time.Minute, "limits"},
		"disk full":    {qdranttest.Fault{Code: codes.ResourceExhausted}, memoryd.Unavailable, 1, 0, "out of space"},
		"forbidden":    {qdranttest.Fault{Code: codes.PermissionDenied}, memoryd.Unavailable, 1, 0, "credentials"},
		"defect":       {qdranttest.Fault{Code: codes.InvalidArgument}, memoryd.Internal, 1, 0, "failed"},
		"too slow":     {qdranttest.Fault{Delay: time.Hour}, memoryd.Unavailable, 4, 0, "reached"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := qdranttest.New(t, versions[0])
			cfg := fakeConfig()
			cfg.Retries, cfg.Timeout = 3, time.Second
			if tc.fault.Delay > 0 {
				cfg.Timeout = 500 * time.Millisecond // on a busy machine a request needs some time to the server
			}
			s := openFake(t, server, cfg, qdrant.WithSleep(noWait))
			var tries atomic.Int64
			server.Inject(func(string) qdranttest.Fault {
				tries.Add(1)
				return tc.fault
			})
			err := s.Ping(t.Context())
			server.Inject(nil)
			e, ok := errors.AsType[*memoryd.Error](err)
			if !ok || e.Kind != tc.kind || e.RetryAfter != tc.after || !strings.Contains(e.Msg, tc.sentence) {
				t.Errorf("got %+v", err)
			}
			if tries.Load() != tc.tries {
				t.Errorf("%d tries, want %d", tries.Load(), tc.tries)
			}
		})
	}
}

// TestVanishedCollectionsAreUnavailableUntilTheNextStart deletes the storage of a
// server under a running store.
func TestVanishedCollectionsAreUnavailableUntilTheNextStart(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig(), qdrant.WithSleep(noWait))
	if _, err := add(t.Context(), s, 9, call("t", 1, 1)); err != nil {
		t.Fatal(err)
	}
	server.Vanish()
	_, appending := add(t.Context(), s, 9, call("t", 2, 1))
	_, reading := s.Tool(t.Context(), ref("t"))
	for what, err := range map[string]error{"append": appending, "tool": reading, "ping": s.Ping(t.Context())} {
		e, ok := errors.AsType[*memoryd.Error](err)
		if !ok || e.Kind != memoryd.Unavailable || e.RetryAfter <= 0 || !strings.Contains(err.Error(), "lost its collections") {
			t.Errorf("%s: got %v", what, err)
		}
	}
	s = openFake(t, server, fakeConfig(), qdrant.WithSleep(noWait))
	if _, err := s.Tool(t.Context(), ref("t")); !memoryd.IsKind(err, memoryd.NotFound) {
		t.Errorf("remade: got %v", err)
	}
	if got, err := add(t.Context(), s, 9, call("t", 2, 1)); err != nil || !got[0].New || !got[0].FirstOfTool {
		t.Errorf("remade: got %+v, %v", got, err)
	}
}

// A server that answers reads and refuses writes was ready.
func TestAServerThatRefusesWritesIsUnready(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	s := openFake(t, server, fakeConfig(), qdrant.WithSleep(noWait))
	if _, err := add(t.Context(), s, 9, call("t", 1, 1)); err != nil || s.Ping(t.Context()) != nil {
		t.Fatal(err, s.Ping(t.Context()))
	}
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Get" || method == "Scroll" || method == "Count" {
			return qdranttest.Fault{}
		}
		return qdranttest.Fault{Code: codes.ResourceExhausted}
	})
	if _, err := add(t.Context(), s, 9, call("t", 2, 1)); !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Fatalf("the write: %v", err)
	}
	if err := s.Ping(t.Context()); !memoryd.IsKind(err, memoryd.Unavailable) || !strings.Contains(err.Error(), "out of space") {
		t.Errorf("ready after a refused write: %v", err)
	}
	server.Inject(nil)
	if _, err := add(t.Context(), s, 9, call("t", 3, 1)); err != nil || s.Ping(t.Context()) != nil {
		t.Errorf("a write was done, and ping says %v, %v", s.Ping(t.Context()), err)
	}
}
