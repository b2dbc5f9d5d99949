package sqlite

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The index gives the rows of the newest entries, each row once.
func TestTheIndexOfRunsIsARing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 12).Draw(t, "size")
		x := newRunIndex(size)
		var all []runEntry
		for range rapid.IntRange(0, 40).Draw(t, "entries") {
			e := runEntry{uint64(rapid.IntRange(1, 4).Draw(t, "run")), int64(rapid.IntRange(1, 6).Draw(t, "slot"))}
			x.add(e)
			all = append(all, e)
		}
		kept := all[max(0, len(all)-size):]
		for run := uint64(1); run <= 5; run++ {
			var want []int64
			for _, e := range slices.Backward(kept) {
				if e.run == run && !slices.Contains(want, e.slot) {
					want = append(want, e.slot)
				}
			}
			if got := x.slots(run); !slices.Equal(got, want) {
				t.Fatalf("run %d of %v: got %v, want %v", run, kept, got, want)
			}
		}
		if len(x.newest) > size {
			t.Fatalf("%d runs are held for %d entries", len(x.newest), size)
		}
	})
}

// TestRunsOutliveTheLog reads them back after the log was folded into rows of
// runs, and after some of these were dropped.
func TestRunsOutliveTheLog(t *testing.T) {
	cfg := settings(t.TempDir())
	eager := func(s *Store) { s.w.foldEvery = 20 }
	s := openTuned(t, cfg, eager)
	for n := range 100 {
		b := testBatch(50, "t", n, n)
		b.Calls[0].Metadata = []byte(`{"trajectory_id":"r` + string(rune('0'+n%10)) + `"}`)
		mustAppend(t, s, b)
	}
	settleDown(t, s)
	if len(s.w.runRows.rows) == 0 {
		t.Fatal("nothing was folded")
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTuned(t, cfg, eager)
	got, err := s.RunCalls(t.Context(), "w", "r3", 99)
	if err != nil || len(got) != 5 {
		t.Fatalf("got %d calls, %v, want the 5 of 10 that the history keeps", len(got), err)
	}
	for i, c := range got {
		if want := testCall("t", 93-10*i); c.Key != want.Key || c.Output != want.Output {
			t.Errorf("call %d: got %q", i, c.Output)
		}
	}
}
