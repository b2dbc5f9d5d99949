package qdrant_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/store/qdrant/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestADeadCopyStopsNoReads plays a cluster whose third node was killed: it is
// still asked for a majority, which fails.
func TestADeadCopyStopsNoReads(t *testing.T) {
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
			return status.Error(codes.Internal, "Service internal error: 1 of 3 read operations failed:")
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

func TestAnAnswerThatIsNoneOfGRPCIsUnavailable(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	broken := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return status.Error(codes.Unknown, "malformed header: missing HTTP content-type")
	}
	_, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial),
		qdrant.WithInterceptor(broken), qdrant.WithSleep(func(context.Context, time.Duration) error { return nil }))
	if !memoryd.IsKind(err, memoryd.Unavailable) || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("got %v", err)
	}
}
