package sqlite

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd"
	"memoryd/store"
	"memoryd/store/storetest"
)

// summedSettings are settings of a store whose pages have checksums.
func summedSettings(dir string) Config {
	cfg := settings(dir)
	cfg.PageChecksums = true
	return cfg
}

// filledDir makes a store of known content: some of it in the database, the newest in the
// write-ahead log, as a kill leaves it.
func filledDir(t *testing.T) (dir string, want map[string]string) {
	t.Helper()
	dir = t.TempDir()
	s := openTuned(t, summedSettings(dir), nil)
	want = map[string]string{}
	for tool := range 6 {
		name := fmt.Sprintf("t%d", tool)
		for part := range 4 {
			b := store.Batch{Workspace: "w", Keep: 100}
			for i := range 5 {
				n := part*5 + i
				c := memoryd.Call{
					ToolRef: memoryd.ToolRef{Workspace: "w", Tool: name}, Key: memoryd.CallKey{byte(tool), byte(n), 7}, Success: true, TokenCost: -1,
					Input: []byte(fmt.Sprintf(`{"n":%d}`, n)), Output: fmt.Sprintf("%s output %d. %s. ", name, n, storetest.Noise(14*n*n)),
					Evaluation: memoryd.Evaluation{State: memoryd.Judged, Score: 1, Summary: "fine"},
				}
				b.Calls = append(b.Calls, c)
				want[name] += c.Output
			}
			if _, err := s.Append(t.Context(), b); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "w"}, Kind: "note", ID: name}, Data: []byte(name)}); err != nil {
			t.Fatal(err)
		}
	}
	killed := t.TempDir() // a copy of the files while the store runs: nothing was closed
	s.ckpt.one.Lock()
	defer s.ckpt.one.Unlock()
	for _, name := range []string{fileName, fileName + "-wal", "lock"} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(killed, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return killed, want
}

// content reads all that a store serves; an error is that something is not served.
func content(ctx context.Context, dir string) (got map[string]string, notes int, err error) {
	s, err := Open(ctx, summedSettings(dir), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, 0, err
	}
	defer s.Close()
	s.Start(ctx)
	got = map[string]string{}
	tools, err := s.ListTools(ctx, "w", "", 100)
	for _, tool := range tools {
		if err == nil {
			var calls []memoryd.Call
			calls, err = s.History(ctx, tool.ToolRef, 0)
			for i := range calls {
				got[tool.Tool] += calls[i].Output
				if calls[i].Evaluation.Summary != "fine" {
					got[tool.Tool] += "?"
				}
			}
		}
	}
	if err != nil {
		return nil, 0, err
	}
	records, err := s.ListRecords(ctx, store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: "w"}, Kind: "note"}, 100)
	return got, len(records), err
}

// TestNoMutationIsServedAsRight changes a byte, cuts, empties or removes a file of a
// store 200 times: what it then serves is all that was acknowledged, or an error.
func TestNoMutationIsServedAsRight(t *testing.T) {
	if testing.Short() {
		t.Skip("one caller: the race detector has nothing to see")
	}
	source, want := filledDir(t)
	if got, notes, err := content(t.Context(), copied(t, source)); err != nil || notes != 6 || !equal(got, want) {
		t.Fatalf("the unharmed copy: %v, %d notes, %d tools", err, notes, len(got))
	}
	r := rand.New(rand.NewPCG(7, 7))
	rounds, refused := 200, 0
	for round := range rounds {
		dir := copied(t, source)
		what := mutate(t, r, dir)
		got, notes, err := content(t.Context(), dir)
		if err != nil {
			refused++
			continue
		}
		if notes != 6 || !equal(got, want) {
			t.Errorf("round %d: after %s wrong content is served: %d notes, %d tools", round, what, notes, len(got))
		}
	}
	t.Logf("%d of %d mutations were refused, the others harmed nothing", refused, rounds)
	if refused < rounds/4 {
		t.Error("hardly anything was noticed: the mutations do not reach what matters")
	}
}

func equal(a, b map[string]string) bool {
	for k, v := range b {
		if a[k] != v {
			return false
		}
	}
	return len(a) == len(b)
}

func copied(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mutate(t *testing.T, r *rand.Rand, dir string) string {
	t.Helper()
	name := []string{fileName, fileName + "-wal", fileName, fileName + "-wal", "lock"}[r.IntN(5)]
	path := filepath.Join(dir, name)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := r.IntN(len(b))
	what := fmt.Sprintf("%s at %d of %d: ", name, at, len(b))
	switch r.IntN(6) {
	case 0:
		what += "cut"
		b = b[:at]
	case 1:
		what += "zeroed"
		clear(b[at:min(len(b), at+1+r.IntN(5000))])
	case 2:
		if r.IntN(3) == 0 {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			return what + "removed"
		}
		fallthrough
	case 3:
		what += "a block of elsewhere"
		from := r.IntN(len(b))
		copy(b[at:], bytes.Clone(b[from:min(len(b), from+4096)]))
	default:
		what += "one bit"
		b[at] ^= 1 << r.IntN(8)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return what
}

// TestAMissingDatabaseBesideItsLockIsAnError: an empty store would take its place.
func TestAMissingDatabaseBesideItsLockIsAnError(t *testing.T) {
	source, _ := filledDir(t)
	for _, name := range []string{fileName, fileName + "-wal"} {
		if err := os.Remove(filepath.Join(source, name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := content(t.Context(), source); err == nil || !strings.Contains(err.Error(), "could not be opened") {
		t.Errorf("opened: %v", err)
	}
	if _, err := os.Stat(filepath.Join(source, fileName)); err == nil {
		t.Error("a new database was made")
	}
}

// TestFilesAreTheOwnersAlone, also where the folder was there before.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // that is the point
		t.Fatal(err)
	}
	s := openTuned(t, summedSettings(dir), nil)
	mustAppend(t, s, testBatch(9, "t", 1, 5))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", d.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestNothingOfADeletedToolIsLeftInAnyFile once the deletion is answered.
func TestNothingOfADeletedToolIsLeftInAnyFile(t *testing.T) {
	const canary = "qzxcanaryqzx"
	dir := t.TempDir()
	s := openTuned(t, summedSettings(dir), nil)
	fill := func(tool string, marks string) memoryd.ToolRef {
		ref := memoryd.ToolRef{Workspace: "w", Tool: tool}
		for i := range 30 {
			c := memoryd.Call{
				ToolRef: ref, Key: memoryd.CallKey{byte(i), byte(len(tool)), 9}, TokenCost: -1, Input: []byte(`"` + marks + `"`), Output: strings.Repeat(marks+" ", 1+300*(i%5)),
				Evaluation: memoryd.Evaluation{State: memoryd.Judged, Summary: marks},
			}
			if _, err := s.Append(t.Context(), store.Batch{Workspace: "w", Keep: 20, Calls: []memoryd.Call{c}}); err != nil {
				t.Fatal(err)
			}
		}
		for revision := range 3 {
			if err := s.PutGuideline(t.Context(), ref, memoryd.Guideline{Content: marks + fmt.Sprint(revision) + " " + marks}, int64(revision)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.PutRecord(t.Context(), store.Record{RecordKey: store.RecordKey{ToolRef: ref, Kind: "note", ID: marks}, Data: bytes.Repeat([]byte(marks), 2000)}); err != nil {
			t.Fatal(err)
		}
		return ref
	}
	fill("other", "kept")
	ref := fill("tool"+canary, canary)
	if err := s.DeleteTool(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "-shm") {
			return err
		}
		b, err := os.ReadFile(path)
		if at := bytes.Index(b, []byte(canary)); at >= 0 {
			t.Errorf("%s holds the deleted text at %d, page %d: %q", d.Name(), at, at/pageSize+1, b[max(0, at-20):min(len(b), at+40)])
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if tools, err := s.ListTools(t.Context(), "w", "", 9); err != nil || len(tools) != 1 {
		t.Errorf("%v, %v", tools, err)
	}
}

// TestCheckSaysWhatIsDamagedAndRepairKeepsTheRest flips a byte in each fifth page.
func TestCheckSaysWhatIsDamagedAndRepairKeepsTheRest(t *testing.T) {
	source, want := filledDir(t)
	if _, _, err := content(t.Context(), source); err != nil { // closed well: the log is empty
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	if r, err := Check(t.Context(), summedSettings(source), true, log); err != nil || len(r.Faults) > 0 || r.Calls != 120 || r.Tools != 6 || r.Records != 6 || r.Repaired {
		t.Fatalf("a sound store: %+v, %v", r, err)
	}
	path := filepath.Join(source, fileName)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pages := len(b) / pageSize
	for page := pages / 2; page < pages; page += 5 { // bodies of calls
		b[page*pageSize+1000] ^= 4
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Check(t.Context(), summedSettings(source), false, log)
	if err != nil || len(r.Faults) == 0 || r.LostCalls == 0 || r.Calls+r.LostCalls != 120 || r.Repaired {
		t.Fatalf("a damaged store: %+v, %v", r, err)
	}
	if r, err = Check(t.Context(), summedSettings(source), true, log); err != nil || !r.Repaired {
		t.Fatalf("repair: %+v, %v", r, err)
	}
	got, notes, err := content(t.Context(), source)
	if err != nil || notes != 6 || len(got) == 0 {
		t.Fatalf("after the repair: %d tools, %d notes, %v", len(got), notes, err)
	}
	for tool, text := range got {
		for part := range strings.SplitSeq(text, ". ") {
			if !strings.Contains(want[tool], part) {
				t.Errorf("%s holds %q, which was never recorded", tool, part)
			}
		}
	}
	if again, err := Check(t.Context(), summedSettings(source), false, log); err != nil || len(again.Faults) > 0 || again.Calls != r.Calls {
		t.Errorf("the repaired store: %+v, %v", again, err)
	}
	if r, err = Check(t.Context(), summedSettings(source), false, log); err != nil {
		t.Error(r, err)
	}
}

// A power cut while the log is copied into the file may tear its first page. The log has it whole, and whether the pages
// have checksums is known all the same: else the store writes pages that it refuses at its next start.
func TestAFirstPageTornByACheckpointIsMendedByTheLog(t *testing.T) {
	source, want := filledDir(t)
	for _, reserved := range []byte{0, sumBytes} {
		dir := copied(t, source)
		path := filepath.Join(dir, fileName)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := range b[:512] {
			b[i] = byte(37*i + 11) // rubbish
		}
		b[reservedAt] = reserved
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		for start := range 3 { // each ends with a checkpoint
			got, notes, err := content(t.Context(), dir)
			if err != nil || notes != 6 || !equal(got, want) {
				t.Fatalf("start %d, reserved %d: %v, %d notes, %d tools", start, reserved, err, notes, len(got))
			}
		}
		if sums, err := summed(path); err != nil || !sums {
			t.Errorf("reserved %d: it has no checksums (%v)", reserved, err)
		}
	}
}
