package powerloss

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"memoryd"
	"memoryd/store/sqlite"
)

// version1 is a store in the first layout, as a killed process left it: with
// changes that only the write-ahead log holds. Its workspace "old" has a tool
// "wide" with 80 calls and a guideline, and "ring" with the last 7 of 45.
func version1(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, name := range []string{"db", "db-wal"} {
		f, err := os.Open(filepath.Join("..", "crash", "testdata", "version1."+name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if files["memoryd."+name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestAnUpgradeIsWholeOrDidNotHappenWhenThePowerGoes cuts the power after each
// event of an upgrade, three times each.
func TestAnUpgradeIsWholeOrDidNotHappenWhenThePowerGoes(t *testing.T) {
	seed := firstSeed(t)
	w := newWorld(t, front.disks, seed)
	w.files = version1(t)
	begin, d := w.upgrade()
	for at := 0; ; at++ {
		for range 3 {
			fate := newFate(w.rng)
			if err := w.checkUpgraded(begin.crash(fate)); err != nil {
				t.Fatalf("after event %d of %d (%v): %v (MEMORYD_POWERLOSS_SEED=%d)", at, len(d.events), fate, err, seed)
			}
		}
		if at == len(d.events) {
			break
		}
		begin.apply(d.events[at])
	}
	t.Logf("%d events", len(d.events))
}

// upgrade opens and closes the store on a watched disk.
func (w *world) upgrade() (*state, *disk) {
	w.t.Helper()
	dir := w.t.TempDir()
	begin, err := lay(dir, w.files)
	if err != nil {
		w.t.Fatal(err)
	}
	d := w.all.watch(dir, begin)
	defer w.all.forget(d)
	s, err := sqlite.Open(w.t.Context(), settings(dir), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	s.Start(w.t.Context())
	if err := s.Close(); err != nil {
		w.t.Fatal(err)
	}
	return begin, d
}

func (w *world) checkUpgraded(files map[string][]byte) (err error) {
	dir := w.t.TempDir()
	if _, err := lay(dir, files); err != nil {
		return err
	}
	s, err := sqlite.Open(w.t.Context(), settings(dir), nil)
	if err != nil {
		return err
	}
	s.Start(w.t.Context())
	defer func() {
		if cerr := s.Close(); err == nil {
			err = cerr
		}
	}()
	for tool, want := range map[string]memoryd.Counters{"wide": {Lifetime: 80, Pending: 20}, "ring": {Lifetime: 45, Pending: 2}} {
		ref := memoryd.ToolRef{Workspace: "old", Tool: tool}
		got, err := s.Tool(w.t.Context(), ref)
		if err != nil || got.Counters != want || (got.Guideline.Revision == 1) != (tool == "wide") {
			return fmt.Errorf("%s: got %+v, %w, want %+v", tool, got, err, want)
		}
		calls, err := s.History(w.t.Context(), ref, 0)
		if err != nil || len(calls) != got.Kept {
			return fmt.Errorf("%s: %d calls of %d, %w", tool, len(calls), got.Kept, err)
		}
		for i, c := range calls {
			if want := int64(got.Kept - i); c.Seq != got.Lifetime-want+1 || c.Key == (memoryd.CallKey{}) {
				return fmt.Errorf("%s: call %d has number %d", tool, i, c.Seq)
			}
		}
	}
	return nil
}
