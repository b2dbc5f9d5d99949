package qdranttest

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip" // of the test program, as traces bring it into the server
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Fault is an injected failure of one request.
type Fault struct {
	// Code makes the request fail before it takes effect; OK does not.
	Code codes.Code
	// Message is the server's message for that.
	Message string
	// RetryAfter, in seconds and with the code ResourceExhausted, reports a rate limit. 0
	// omits it, as on a full disk.
	RetryAfter int
	// LostAck lets the request take effect, then fails it.
	LostAck bool
	// Delay delays the request, or until its caller gives up.
	Delay time.Duration
	// Stale answers a read with the state before the newest write, unless it asks for a
	// majority of the replicas. Call Lag first.
	Stale bool
}

// Inject lets f choose the fault for each request, by its method ("Upsert", "Get"). Many
// goroutines call f at once; nil ends all faults.
func (s *Server) Inject(f func(method string) Fault) {
	s.faultMu.Lock()
	defer s.faultMu.Unlock()
	s.fault = f
}

type staleKey struct{}

// Packed returns the number of replies that a real server would have compressed, because the
// client accepts that.
func (s *Server) Packed() int64 { return s.packed.Load() }

func (s *Server) intercept(ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if takes, _ := grpc.ClientSupportedCompressors(ctx); slices.Contains(takes, gzip.Name) {
		s.packed.Add(1)
	}
	s.faultMu.Lock()
	inject := s.fault
	s.faultMu.Unlock()
	if inject == nil {
		return handle(ctx, req)
	}
	f := inject(path.Base(info.FullMethod))
	if err := wait(ctx, f.Delay); err != nil {
		return nil, err
	}
	if f.Code != codes.OK {
		if f.RetryAfter > 0 {
			if err := grpc.SetTrailer(ctx, metadata.Pairs("retry-after", strconv.Itoa(f.RetryAfter))); err != nil {
				return nil, err
			}
		}
		return nil, status.Error(f.Code, cmp.Or(f.Message, "injected"))
	}
	if f.Stale {
		ctx = context.WithValue(ctx, staleKey{}, true)
	}
	reply, err := handle(ctx, req)
	if err == nil && f.LostAck {
		return nil, status.Error(codes.Unavailable, "injected: the acknowledgement was lost")
	}
	return reply, err
}

func wait(ctx context.Context, d time.Duration) error {
	if d == 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}
