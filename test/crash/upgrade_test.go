package crash

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// version1 lays out a data folder in the first layout, as a killed process left
// it: its workspace "old" has a tool "wide" with 80 calls and a guideline, and
// "ring" with the last 7 of 45. The program of 2026-11-21 made it; a part of it
// is in the write-ahead log only.
func version1(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"db", "db-wal"} {
		f, err := os.Open(filepath.Join("testdata", "version1."+name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "memoryd."+name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// startup is longer than the program takes to open a small store.
const startup = 40 * time.Millisecond

// TestAnUpgradeSurvivesKill9 kills the program at random moments of its start on
// an older store, until a last start that may go on.
func TestAnUpgradeSurvivesKill9(t *testing.T) {
	rng := daemon.Dice(t)
	early := 0
	for range daemon.Size(t, "MEMORYD_KILL_ROUNDS", 8) {
		dir := version1(t)
		for range 1 + rng.IntN(3) {
			p := binary.Launch(t, dir)
			select {
			case <-p.Done(): // it ended by itself: the next start shows why
			case <-time.After(time.Duration(rng.Int64N(int64(startup)))): // the moment of the kill is what is random
			}
			p.Kill()
		}
		if _, err := os.Stat(filepath.Join(dir, "memoryd.db-shm")); err != nil {
			early++
		}
		checkVersion1(t, binary.Start(t, dir, nil))
	}
	t.Logf("%d kills came before the file was opened", early)
}

func checkVersion1(t *testing.T, p *daemon.Process) {
	t.Helper()
	a := p.Post("/retrieve_tool_memory", map[string]any{"workspace_id": "old", "tool_names": "wide,ring"})
	if !a.Success || len(a.Metadata.MemoryList) != 2 {
		t.Fatalf("got %q with %d memories", a.Answer, len(a.Metadata.MemoryList))
	}
	wide, ring := a.Metadata.MemoryList[0], a.Metadata.MemoryList[1]
	if wide.Lifetime() != 80 || len(wide.Calls) != 80 || wide.Content == "" {
		t.Errorf("wide: %d calls, %d of them there, guideline %q", wide.Lifetime(), len(wide.Calls), wide.Content)
	}
	if ring.Lifetime() != 45 || len(ring.Calls) != 7 {
		t.Errorf("ring: %d calls, %d of them there", ring.Lifetime(), len(ring.Calls))
	}
	seen := map[string]bool{}
	for _, c := range append(wide.Calls, ring.Calls...) {
		seen[c.Output] = true
	}
	if len(seen) != 87 {
		t.Errorf("%d different calls, want 87", len(seen))
	}
	if code := p.Stop(); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}
