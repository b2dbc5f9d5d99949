package qdrant_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	qd "github.com/qdrant/go-client/qdrant"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// gate holds the writes of calls back, and may refuse them.
type gate struct {
	mu     sync.Mutex
	writes [][]string // the calls' times of creation, of each write that was let in
	refuse func(calls []string) error
	hold   chan struct{} // a write waits for it, or for its end; nil: none does
	began  chan struct{} // one for each write that came
}

func (g *gate) intercept(ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, next grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	r, ok := req.(*qd.UpsertPoints)
	if !ok || !strings.HasSuffix(r.GetCollectionName(), "calls") {
		return next(ctx, method, req, reply, cc, opts...)
	}
	var calls []string
	for _, p := range r.GetPoints() {
		if v := p.GetPayload()["create_time"]; v != nil {
			calls = append(calls, v.GetStringValue())
		}
	}
	g.mu.Lock()
	hold, refuse := g.hold, g.refuse
	g.mu.Unlock()
	if hold != nil {
		g.began <- struct{}{}
		select {
		case <-hold:
		case <-ctx.Done():
			return status.FromContextError(ctx.Err()).Err()
		}
	}
	if refuse != nil {
		if err := refuse(calls); err != nil {
			return err
		}
	}
	g.mu.Lock()
	g.writes = append(g.writes, calls)
	g.mu.Unlock()
	return next(ctx, method, req, reply, cc, opts...)
}

// gated opens a store with a tool whose writes are held from now on.
func gated(t *testing.T) (*qdrant.Store, *gate) {
	g := &gate{began: make(chan struct{}, 100)}
	s, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(slog.DiscardHandler), qdrant.WithDialer(qdranttest.New(t, versions[0]).Dial),
		qdrant.WithInterceptor(g.intercept), qdrant.WithSleep(noWait))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := add(t.Context(), s, 100, call("t", 0, 1)); err != nil {
		t.Fatal(err)
	}
	g.hold, g.writes = make(chan struct{}), nil
	return s, g
}

// outcome is what became of an append of one call.
type outcome struct {
	store.Appended
	err error
}

// send appends calls beside each other, and returns when they wait for the one
// that is under way; collect gives the results in order.
func (g *gate) send(s *qdrant.Store, calls []memoryd.Call, ctxs ...context.Context) (collect func() []outcome) {
	results := make([]outcome, len(calls))
	var wg sync.WaitGroup
	for i := range calls {
		ctx := context.Background()
		if i < len(ctxs) {
			ctx = ctxs[i]
		}
		wg.Go(func() {
			out, err := add(ctx, s, 100, calls[i])
			results[i].err = err
			if err == nil {
				results[i].Appended = out[0]
			}
		})
		if i == 0 {
			<-g.began
			continue
		}
		for s.Waiting() < i {
			runtime.Gosched()
		}
	}
	return func() []outcome {
		wg.Wait()
		return results
	}
}

func single(n ...int) (calls []memoryd.Call) {
	for _, i := range n {
		calls = append(calls, call("t", i, 1))
	}
	return calls
}

func TestAppendsThatWaitShareARequest(t *testing.T) {
	s, g := gated(t)
	same := call("t", 2, 1) // content of number 2, another key
	same.CreateTime = "again"
	same.Key = memoryd.Identity{ToolRef: same.ToolRef, Input: same.Input, Output: same.Output, CreateTime: same.CreateTime}.Key()
	collect := g.send(s, append(single(1, 2, 3, 4, 3), same))
	close(g.hold)
	got := collect()
	if fmt.Sprint(g.writes) != "[[1] [2 3 4 again]]" {
		t.Errorf("the writes held %v", g.writes)
	}
	var last int64
	for i, r := range got {
		want := store.Appended{New: i != 4, Seq: r.Seq}
		if r.err != nil || r.Appended != want || r.New && r.Seq <= last || !r.New && r.Seq != 0 {
			t.Errorf("append %d: %+v, want %+v and a number above %d", i, r, want, last)
		}
		last = max(last, r.Seq)
	}
	tool, err := s.Tool(t.Context(), ref("t"))
	if err != nil || tool.Lifetime != 6 || tool.Duplicates != 1 {
		t.Errorf("got %+v, %v", tool, err)
	}
}

func TestAFailureInASharedRequestIsOnlyItsOwners(t *testing.T) {
	for name, refusal := range map[string]error{
		"invalid": status.Error(codes.InvalidArgument, "poison"), "away": status.Error(codes.Unavailable, "poison"),
	} {
		t.Run(name, func(t *testing.T) {
			s, g := gated(t)
			g.refuse = func(calls []string) error {
				if strings.Contains(fmt.Sprint(calls), "666") {
					return refusal
				}
				return nil
			}
			collect := g.send(s, single(1, 2, 666, 3))
			close(g.hold)
			for i, r := range collect() {
				if (r.err != nil) != (i == 2) || r.New == (i == 2) {
					t.Errorf("append %d: %+v", i, r)
				}
			}
			calls, err := s.History(t.Context(), ref("t"), 0)
			if err != nil || len(calls) != 4 {
				t.Errorf("got %v, %v", outputs(calls), err)
			}
		})
	}
}

func TestWhoGivesUpLeavesTheOthersInASharedRequest(t *testing.T) {
	s, g := gated(t)
	ctx, cancel := context.WithCancel(t.Context())
	hold := g.hold
	collect := g.send(s, single(1, 2, 3), t.Context(), ctx)
	hold <- struct{}{} // the first goes
	<-g.began          // the second and third are under way
	cancel()
	close(hold)
	got := collect()
	if !errors.Is(got[1].err, context.Canceled) || got[0].err != nil || got[2].err != nil || !got[2].New {
		t.Errorf("got %+v", got)
	}
}

// TestASharedRequestEndsWhenAllGiveUp would wait for ever otherwise: nothing lets
// the request go on.
func TestASharedRequestEndsWhenAllGiveUp(t *testing.T) {
	s, g := gated(t)
	ctx, cancel := context.WithCancel(t.Context())
	collect := g.send(s, single(1, 2, 3), t.Context(), ctx, ctx)
	g.hold <- struct{}{}
	<-g.began
	cancel()
	if got := collect(); got[1].err == nil || got[2].err == nil {
		t.Errorf("got %+v", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
