package qdrant_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestAppendsGoOnWhileNoSeatCanBeRenewed plays a cluster whose node that orders the
// writes to documents is away, for less and for more than a lease lasts.
func TestAppendsGoOnWhileNoSeatCanBeRenewed(t *testing.T) {
	for _, age := range []time.Duration{40 * time.Second, time.Hour} {
		t.Run(age.String(), func(t *testing.T) {
			server := qdranttest.New(t, versions[0])
			var away atomic.Bool
			var refused, renewed atomic.Int64
			leader := func(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				r, ok := req.(interface{ GetCollectionName() string })
				_, set := req.(*qd.SetPayloadPoints)
				_, upsert := req.(*qd.UpsertPoints)
				switch {
				case !ok || !strings.HasSuffix(r.GetCollectionName(), "docs") || !set && !upsert:
				case away.Load():
					refused.Add(1)
					return status.Error(codes.Internal, "Service internal error: Failed to apply update with Strong ordering via leader peer 7: away")
				default:
					renewed.Add(1)
				}
				return next(ctx, method, req, reply, cc, opts...)
			}
			s, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(server.Dial),
				qdrant.WithInterceptor(leader), qdrant.WithSleep(noWait))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.AgeLease(age)
			away.Store(true)
			for n := range 5 {
				if _, err := add(t.Context(), s, 9, call("t", n, 1)); err != nil {
					t.Fatalf("call %d: %v", n, err)
				}
			}
			if n := refused.Load(); n == 0 || n > 1+int64(fakeConfig().Retries) {
				t.Errorf("%d writes of the lease were refused, want those of one try", n)
			}
			away.Store(false)
			before := renewed.Load()
			s.AgeLease(age)
			if _, err := add(t.Context(), s, 9, call("t", 5, 1)); err != nil || renewed.Load() == before {
				t.Errorf("the lease was not renewed when that was possible again: %v", err)
			}
			if calls, err := s.History(t.Context(), ref("t"), 0); err != nil || fmt.Sprint(outputs(calls)) != "[0 1 2 3 4 5]" {
				t.Errorf("got %v, %v", outputs(calls), err)
			}
		})
	}
}

// outputs gives what tells the calls of these tests apart.
func outputs(calls []memoryd.Call) (out []string) {
	for i := range calls {
		out = append(out, calls[i].CreateTime)
	}
	return out
}
