package qdrant_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/test/qdranttest"

	"google.golang.org/grpc/codes"
)

// A panic in a shared request leaves nobody waiting: each append is sent alone.
func TestAPanicInASharedRequestLeavesNobodyWaiting(t *testing.T) {
	server := qdranttest.New(t, versions[0])
	var broken atomic.Bool
	var panics lifecycle.PanicCounter
	s, err := qdrant.Open(t.Context(), fakeConfig(), "", slog.New(panics.Handler(slog.DiscardHandler)), qdrant.WithDialer(server.Dial),
		qdrant.WithSleep(func(context.Context, time.Duration) error {
			if broken.CompareAndSwap(true, false) {
				panic("a defect")
			}
			return nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	send := func(key byte) {
		t.Helper()
		added, err := s.Append(t.Context(), store.Batch{Workspace: "w", Keep: 9, Calls: []memoryd.Call{{
			ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Key: memoryd.CallKey{key}, Output: "o",
			Evaluation: memoryd.Evaluation{State: memoryd.Judged, JudgedBy: "rules"},
		}}})
		if err != nil || !added[0].New {
			t.Errorf("got %+v, %v", added, err)
		}
	}
	send(1) // makes the tool, in requests of its own
	broken.Store(true)
	server.Inject(func(method string) qdranttest.Fault {
		if method == "Upsert" && broken.Load() {
			return qdranttest.Fault{Code: codes.Unavailable}
		}
		return qdranttest.Fault{}
	})
	send(2)
	if n := panics.Counts()["qdrant"]; n != 1 {
		t.Errorf("%d panics are counted, want 1", n)
	}
}
