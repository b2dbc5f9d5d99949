package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"memoryd/internal/configtest"

	"memoryd"
	"memoryd/store"
	"memoryd/store/storetest"
)

// settings are small, so that what is rare happens in short tests.
func settings(dir string) Config {
	cfg := configtest.Section[Config]("store.sqlite")
	cfg.Dir, cfg.IdentityWindow, cfg.Readers, cfg.SampleCache = dir, 4096, 2, 20
	return cfg
}

// openTuned opens a store, lets tune change it, and starts it.
func openTuned(t *testing.T, cfg Config, tune func(*Store)) *Store {
	t.Helper()
	s, err := Open(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if tune != nil {
		tune(s)
	}
	s.Start(t.Context())
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// newAppendJob is the job of an append.
func newAppendJob(ctx context.Context, b store.Batch) *job {
	a := newAppending(b)
	return newJob(ctx, a.bytes, afterVerdicts, a.run)
}

// inWriter runs f in a transaction of the writer.
func inWriter(t *testing.T, s *Store, f func(d *draft) error) {
	t.Helper()
	if err := s.w.do(t.Context(), 0, alone, f); err != nil {
		t.Fatal(err)
	}
}

// settleDown waits until the housekeeping is done.
func settleDown(t *testing.T, s *Store) {
	t.Helper()
	for range 10_000 {
		busy := false
		inWriter(t, s, func(d *draft) error {
			busy = d.w.fold != nil || len(d.w.purges) > 0
			return nil
		})
		if !busy {
			return
		}
	}
	t.Fatal("the housekeeping does not end")
}

var tref = memoryd.ToolRef{Workspace: "w", Tool: "t"}

// testCall makes a judged call with an identity of its own.
func testCall(tool string, n int) memoryd.Call {
	c := memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: tool}, Output: fmt.Sprint("output ", n), Hash: fmt.Sprint("hash ", n),
		Success: true, TokenCost: -1, Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1},
	}
	copy(c.Key[:], fmt.Sprintf("%08d%s", n, tool))
	return c
}

func testBatch(keep int, tool string, from, to int) store.Batch {
	b := store.Batch{Workspace: "w", Keep: keep}
	for n := from; n <= to; n++ {
		b.Calls = append(b.Calls, testCall(tool, n))
	}
	return b
}

func mustAppend(t *testing.T, s *Store, b store.Batch) []store.Appended {
	t.Helper()
	out, err := s.Append(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestModelWhileFolding is TestModel with all housekeeping done all the time.
func TestModelWhileFolding(t *testing.T) {
	eager := func(s *Store) { s.w.foldEvery = 3 }
	dirs := map[store.Store]string{}
	open := func(t *testing.T, dir string) store.Store {
		s := openTuned(t, settings(dir), eager)
		dirs[s] = dir
		return s
	}
	storetest.Model(t, storetest.Backend{
		Open: func(t *testing.T) store.Store { return open(t, t.TempDir()) },
		Reopen: func(t *testing.T, s store.Store) store.Store {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open(t, dirs[s])
		},
	})
}

func TestFoldingEmptiesTheLogAndExpiresIdentities(t *testing.T) {
	cfg := settings(t.TempDir())
	cfg.IdentityWindow = 300
	s := openTuned(t, cfg, func(s *Store) { s.w.foldEvery = 50 })
	for n := 0; n < 2000; n += 10 {
		mustAppend(t, s, testBatch(5, fmt.Sprint("t", n%70), n, n+9))
	}
	settleDown(t, s)
	inWriter(t, s, func(d *draft) error {
		records, err := d.c.number(`SELECT coalesce(sum(length(records)), 0) FROM log`)
		if err != nil {
			return err
		}
		if limit := int64(50+10) * 40; records > limit {
			t.Errorf("%d bytes of log are left, want at most %d", records, limit)
		}
		seen, err := d.c.number(`SELECT sum(length(entries)) FROM seen`)
		if n := seen / identityBytes; n < 250 || n > 450 {
			t.Errorf("%d identities are kept on disk for a window of 300", n)
		}
		return err
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, nil)
	out := mustAppend(t, s, testBatch(5, "t0", 0, 0))
	if !out[0].New {
		t.Error("a call far outside the window is still known")
	}
	out = mustAppend(t, s, testBatch(5, "t30", 1990, 1999))
	for i, a := range out {
		if a.New && i > 0 {
			t.Errorf("call %d inside the window is forgotten", i)
		}
	}
}

// TestHousekeepingKnowsWhatItHasToDo also of calls that were dropped before the start.
func TestHousekeepingKnowsWhatItHasToDo(t *testing.T) {
	cfg := settings(t.TempDir())
	resting := func(s *Store) {
		s.w.rest, s.w.foldEvery, s.w.wipeTime = time.Now().Add(time.Hour), 1, 10*time.Millisecond
	}
	s := openTuned(t, cfg, resting)
	want := func(when string, trim int64) {
		t.Helper()
		if got := s.w.trimLag.Load(); got != trim {
			t.Errorf("%s: %d rows are to be dropped, want %d", when, got, trim)
		}
	}
	mustAppend(t, s, testBatch(9, "t", 1, 5))
	want("after an append", 0)
	if err := s.DeleteTool(t.Context(), tref); err != nil {
		t.Fatal(err)
	}
	want("after a deletion", 5)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, resting)
	want("opened again", 5)
	inWriter(t, s, func(d *draft) error { d.w.rest = time.Time{}; return nil })
	for range 100 {
		settleDown(t, s)
		if s.w.trimLag.Load() == 0 {
			break
		}
	}
	want("at rest", 0)
}
