package journal_test

import (
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"memoryd/internal/lifecycle"
	"memoryd/store/journal"
	"memoryd/store/mem"
	"memoryd/store/storetest"
)

// A panic while something is forwarded is a failed try: it is counted, and what
// waits is forwarded by the next one.
func TestAPanicWhileForwardingIsAFailedTry(t *testing.T) {
	var left atomic.Int64
	left.Store(3)
	inner := mem.New()
	remote := storetest.NewFaults(lasting{inner}, func(method string, stage storetest.Stage) error {
		if method == "Append" && stage == storetest.Before && left.Add(-1) >= 0 {
			panic("a defect over foreign text")
		}
		return nil
	})
	var panics lifecycle.PanicCounter
	s, err := journal.New(lasting{mem.New()}, remote, quick(), slog.New(panics.Handler(slog.DiscardHandler)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Start(t.Context())
	add(t, s, 9, calls("t", 1, 3)...)
	drain(t, s)
	if got := describe(t, inner, "t"); got.Kept != 3 {
		t.Errorf("the remote store has %d calls", got.Kept)
	}
	if n := panics.Counts()["forwarding"]; n != 3 {
		t.Errorf("%d panics are counted, want 3", n)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
