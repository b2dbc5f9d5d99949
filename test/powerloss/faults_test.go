package powerloss

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/sqlite"
	"memoryd/store/storetest"

	sqlite3 "modernc.org/sqlite/lib"
)

// TestADiskThatLiesLosesData is the control of the test above: on a disk that
// only says it flushed, the same cuts have to be noticed. It shows that the check
// can fail, and that the store asks for the flushes that it needs: without them
// its promises are gone.
func TestADiskThatLiesLosesData(t *testing.T) {
	seed := firstSeed(t)
	lost, cuts := 0, 0
	for range 4 {
		w := newWorld(t, front.disks, seed)
		seed++
		w.makeStore()
		w.lies = true
		begin, d, err := w.live(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for moment := len(d.events) / 2; moment <= len(d.events); moment += max(1, len(d.events)/10) {
			for ; at < moment; at++ {
				begin.apply(d.events[at])
			}
			cuts++
			_, err := w.look(t.Context(), begin.crash(newFate(w.rng)), moment)
			if isLost(err) {
				lost++
			}
		}
	}
	if lost < cuts/4 {
		t.Errorf("the check noticed %d of %d power cuts on a disk that flushes nothing (MEMORYD_POWERLOSS_SEED=%d)", lost, cuts, seed-4)
	}
	t.Logf("%d of %d power cuts lost data", lost, cuts)
}

// makeStore lets an honest disk hold a store that was made and closed.
func (w *world) makeStore() {
	begin, d, err := w.live(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range d.events {
		begin.apply(e)
	}
	w.files = begin.crash(newFate(w.rng))
	kept, err := w.look(w.t.Context(), w.files, len(d.events))
	if err != nil {
		w.t.Fatal(err)
	}
	for i, c := range w.clients {
		c.resume(kept[i])
	}
}

// faulty is a store on a watched disk.
type faulty struct {
	*testing.T
	dir string
	d   *disk
	s   *sqlite.Store
	n   int
}

func newFaulty(t *testing.T) *faulty {
	f := &faulty{T: t, dir: t.TempDir()}
	f.d = front.disks.watch(f.dir, newState())
	t.Cleanup(func() { front.disks.forget(f.d) })
	f.open()
	t.Cleanup(f.close)
	return f
}

func (f *faulty) open() {
	f.Helper()
	var err error
	if f.s, err = sqlite.Open(f.Context(), settings(f.dir), nil); err != nil {
		f.Fatal(err)
	}
	f.s.Start(f.Context())
}

func (f *faulty) close() {
	f.Helper()
	if err := f.s.Close(); err != nil {
		f.Error(err)
	}
}

// append stores one more call.
func (f *faulty) append() error {
	f.n++
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: "t"}, Output: storetest.Noise(3000),
		Evaluation: memoryd.PendingEvaluation(),
	}
	copy(c.Key[:], fmt.Sprint("call ", f.n))
	_, err := f.s.Append(f.Context(), store.Batch{Workspace: "w", Keep: 1000, Calls: []memoryd.Call{c}})
	return err
}

func (f *faulty) wantCalls(want int) {
	f.Helper()
	ref := memoryd.ToolRef{Workspace: "w", Tool: "t"}
	calls, err := f.s.History(f.Context(), ref, 0)
	if err != nil || len(calls) != want {
		f.Errorf("%d calls, %v, want %d", len(calls), err, want)
	}
	if tool, err := f.s.Tool(f.Context(), ref); err != nil || tool.Lifetime != int64(want) {
		f.Errorf("%+v, %v, want %d calls", tool.Counters, err, want)
	}
}

func (f *faulty) wantUnavailable(err error) {
	f.Helper()
	e, ok := errors.AsType[*memoryd.Error](err)
	if !ok || e.Kind != memoryd.Unavailable || e.RetryAfter <= 0 {
		f.Errorf("got %v, want an Unavailable that says when to try again", err)
	}
}

// TestAfterAFailedFlushNothingIsAcknowledgedUntilARestart fails one flush. What
// the system did with the pages nobody knows, so that flushes which work later
// prove nothing.
func TestAfterAFailedFlushNothingIsAcknowledgedUntilARestart(t *testing.T) {
	f := newFaulty(t)
	for range 5 {
		if err := f.append(); err != nil {
			t.Fatal(err)
		}
	}
	failures := 0
	f.d.setFail(func(what, name string) int32 {
		if what == "sync" && failures == 0 {
			failures++
			return sqlite3.SQLITE_IOERR_FSYNC
		}
		return sqlite3.SQLITE_OK
	})
	for range 5 {
		f.wantUnavailable(f.append())
	}
	f.wantUnavailable(f.s.Ping(t.Context()))
	if failures != 1 {
		t.Errorf("%d flushes failed, want 1", failures)
	}
	f.wantCalls(5)
	f.close()
	f.open()
	calls, err := f.s.History(t.Context(), memoryd.ToolRef{Workspace: "w", Tool: "t"}, 0)
	if err != nil || len(calls) < 5 || len(calls) > 6 {
		t.Errorf("after the restart: %d calls, %v, want 5, or 6 with the one whose flush failed", len(calls), err)
	}
	if err := f.append(); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

// TestADiskWithoutRoomRefusesWritesAndLosesNothing lets writes fail one by one,
// as they do when a disk is full.
func TestADiskWithoutRoomRefusesWritesAndLosesNothing(t *testing.T) {
	f := newFaulty(t)
	rng := rand.New(rand.NewPCG(firstSeed(t), 0))
	if err := f.append(); err != nil {
		t.Fatal(err)
	}
	stored := 1
	for range 30 {
		room := rng.IntN(6) // writes that still fit
		f.d.setFail(func(what, name string) int32 {
			if what != "write" {
				return sqlite3.SQLITE_OK
			}
			room--
			if room < 0 {
				return sqlite3.SQLITE_FULL
			}
			return sqlite3.SQLITE_OK
		})
		if err := f.append(); err == nil {
			stored++
		} else {
			f.wantUnavailable(err)
		}
		f.wantCalls(stored)
		f.d.setFail(nil)
		if err := f.append(); err != nil {
			t.Fatalf("when there is room again: %v", err)
		}
		stored++
	}
	if stored == 61 {
		t.Error("no write failed")
	}
	f.close()
	f.open()
	f.wantCalls(stored)
}
