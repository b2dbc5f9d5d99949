package qdrant_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestADeadCopyStopsNoReads plays a cluster whose third node was killed. The others
// ask it for a majority as long as they believe it alive, which fails, and refuse a
// majority from then on.
func TestADeadCopyStopsNoReads(t *testing.T) {
	for _, message := range []string{
		"Service internal error: 1 of 3 read operations failed:",
		"Service internal error: The replica set for shard 1 on peer 7 does not have enough active replicas",
		"a text of a version that is not known here",
	} {
		t.Run(message, func(t *testing.T) { aDeadCopyStopsNoReads(t, message) })
	}
}

func aDeadCopyStopsNoReads(t *testing.T, message string) {
	server := qdranttest.New(t, versions[0])
	var dead atomic.Bool
	var refused, asked atomic.Int64
	cluster := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		var c *qd.ReadConsistency
		switch r := req.(type) {
		case *qd.GetPoints:
			c = r.GetReadConsistency()
		case *qd.ScrollPoints:
			c = r.GetReadConsistency()
		case *qd.CountPoints:
			c = r.GetReadConsistency()
		default:
			return next(ctx, method, req, reply, cc, opts...)
		}
		asked.Add(1)
		if dead.Load() && c.GetType() != qd.ReadConsistencyType_Quorum {
			refused.Add(1)
			return status.Error(codes.Internal, message)
		}
		return next(ctx, method, req, reply, cc, opts...)
	}
	cfg := fakeConfig()
	cfg.ReplicationFactor, cfg.WriteConsistencyFactor = 3, 2
	s, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial),
		qdrant.WithInterceptor(cluster), qdrant.WithSleep(func(context.Context, time.Duration) error { return nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := add(t.Context(), s, 9, call("t", 1, 1)); err != nil {
		t.Fatal(err)
	}
	dead.Store(true)
	for n := 2; n <= 4; n++ {
		if _, err := add(t.Context(), s, 9, call("t", n, n)); err != nil {
			t.Fatal(err)
		}
	}
	if calls, err := s.History(t.Context(), ref("t"), 0); err != nil || len(calls) != 4 {
		t.Errorf("%d calls, %v", len(calls), err)
	}
	if n := refused.Load(); n == 0 || n > 6 {
		t.Errorf("%d of %d reads were refused: a dead copy is not remembered", n, asked.Load())
	}
}

// TestAWriteThatTheNodesDoNotAgreeOnIsTriedAgain gives the answers of a cluster that
// has just lost a node, once and for ever.
func TestAWriteThatTheNodesDoNotAgreeOnIsTriedAgain(t *testing.T) {
	for _, message := range []string{
		"Failed to apply update with Medium ordering via leader peer 7: Service unavailable",
		"Some replica of shard 0 failed to apply operation and deactivation timed out after 30s. Consistency of this update is not guaranteed. Please retry.",
		"Failed to apply operation to at least one `Active` replica. Consistency of this update is not guaranteed. Please retry.",
		"The replica set for shard 0 on peer 7 has no active replica",
		"a text of a version that is not known here",
	} {
		t.Run(message, func(t *testing.T) {
			server := qdranttest.New(t, versions[0])
			s := openFake(t, server, fakeConfig(), qdrant.WithSleep(noWait))
			var failures atomic.Int64
			server.Inject(func(method string) qdranttest.Fault {
				if method == "Upsert" && failures.Add(-1) >= 0 {
					return qdranttest.Fault{Code: codes.Internal, Message: message}
				}
				return qdranttest.Fault{}
			})
			failures.Store(1)
			if _, err := add(t.Context(), s, 9, call("t", 1, 1)); err != nil {
				t.Errorf("not tried again: %v", err)
			}
			failures.Store(1 << 40)
			if _, err := add(t.Context(), s, 9, call("t", 2, 1)); !memoryd.IsKind(err, memoryd.Unavailable) {
				t.Errorf("got %v", err)
			}
			server.Inject(nil)
		})
	}
}

func TestAnAnswerThatIsNoneOfGRPCIsUnavailable(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	broken := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return status.Error(codes.Unknown, "malformed header: missing HTTP content-type")
	}
	cfg := fakeConfig()
	cfg.Patience, cfg.Timeout = time.Second, time.Second
	_, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial),
		qdrant.WithInterceptor(broken), qdrant.WithSleep(func(context.Context, time.Duration) error { return nil }))
	if !memoryd.IsKind(err, memoryd.Unavailable) || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("got %v", err)
	}
}

// TestWhatAQuorumMissesIsAskedForAgain plays a cluster without one node: what the
// two copies differ in, because it is just being written, is left out.
func TestWhatAQuorumMissesIsAskedForAgain(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var dead atomic.Bool
	var asked counts // for each set of points: the store also reads on its own account
	cluster := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
		err := next(ctx, method, req, reply, cc, opts...)
		r, ok := req.(*qd.GetPoints)
		switch {
		case !dead.Load() || !ok:
		case r.GetReadConsistency().GetType() != qd.ReadConsistencyType_Quorum:
			return status.Error(codes.Internal, "does not have enough active replicas")
		case asked.add(fmt.Sprint(r.GetIds()))%2 == 1: // each second read finds nothing
			reply.(*qd.GetResponse).Result = nil
		}
		return err
	}
	cfg := fakeConfig()
	cfg.ReplicationFactor, cfg.WriteConsistencyFactor = 3, 2
	s := openFake(t, server, cfg, qdrant.WithInterceptor(cluster), qdrant.WithSleep(noWait))
	if _, err := add(t.Context(), s, 9, call("t", 1, 1)); err != nil {
		t.Fatal(err)
	}
	dead.Store(true)
	for range 5 {
		if tool, err := s.Tool(t.Context(), ref("t")); err != nil || tool.Lifetime != 1 {
			t.Errorf("got %+v, %v", tool, err)
		}
	}
	_, err := s.Tool(t.Context(), ref("none"))
	if reads := asked.of(fmt.Sprint([]*qd.PointId{qd.NewID(qdrant.ToolID(ref("none")))})); !memoryd.IsKind(err, memoryd.NotFound) || reads != 4 {
		t.Errorf("a tool that is not there: %v, after %d reads", err, reads)
	}
}

// counts count by name.
type counts struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *counts) add(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
	return c.n[name]
}

func (c *counts) of(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[name]
}

// An append is several requests, each with tries of its own: on a server that answers
// none of them it took 40 s with a patience of 25 s.
func TestAnAppendTakesNoLongerThanPatienceInAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := qdranttest.New(t, versions[0])
		cfg := fakeConfig()
		cfg.Timeout, cfg.Patience = 10*time.Second, 25*time.Second
		s := openFake(t, server, cfg)
		if _, err := add(t.Context(), s, 10, call("t", 0, 1)); err != nil {
			t.Fatal(err)
		}
		for name, hangs := range map[string]func(string) bool{
			"writes": func(method string) bool { return method == "Upsert" },
			"reads":  func(method string) bool { return method != "Upsert" },
			"all":    func(string) bool { return true },
		} {
			server.Inject(func(method string) qdranttest.Fault {
				if hangs(method) {
					return qdranttest.Fault{Delay: time.Hour}
				}
				return qdranttest.Fault{}
			})
			var wg sync.WaitGroup
			for n := range 4 { // they share requests, and wait for each other's
				wg.Go(func() {
					begun := time.Now()
					if _, err := add(t.Context(), s, 10, call("t", 1+n, 1)); !memoryd.IsKind(err, memoryd.Unavailable) {
						t.Errorf("%s hang: got %v", name, err)
					}
					if took := time.Since(begun); took > cfg.Patience {
						t.Errorf("%s hang: it took %v", name, took)
					}
					begun = time.Now()
					if _, err := s.Described(store.Since(t.Context(), begun.Add(-cfg.Patience/2)), ref("t")); name != "writes" && !memoryd.IsKind(err, memoryd.Unavailable) {
						t.Errorf("%s hang: described as %v", name, err)
					}
					if took := time.Since(begun); took > cfg.Patience {
						t.Errorf("%s hang: a description took %v", name, took)
					}
				})
			}
			wg.Wait()
			server.Inject(nil)
		}
	})
}

// A server that is started together with Qdrant waits for it.
func TestAStartWaitsForQdrant(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var there atomic.Bool
	dial := func(ctx context.Context, address string) (net.Conn, error) {
		if !there.Load() {
			return nil, errors.New("nobody listens")
		}
		return server.Dial(ctx, address)
	}
	waits := 0
	wait := func(context.Context, time.Duration) error {
		if waits++; waits == 20 { // longer than one request is tried
			there.Store(true)
		}
		return nil
	}
	cfg := fakeConfig()
	cfg.Patience, cfg.Retries = time.Minute, 2
	s, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler), qdrant.WithDialer(dial), qdrant.WithSleep(wait))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	there.Store(false)
	cfg.Patience, cfg.Timeout = time.Second, time.Second
	if _, err := qdrant.Open(t.Context(), cfg, "", slog.New(slog.DiscardHandler), qdrant.WithDialer(dial)); !memoryd.IsKind(err, memoryd.Unavailable) {
		t.Errorf("got %v", err)
	}
}
