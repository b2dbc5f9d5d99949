package crash

import (
	"encoding/json"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"
)

// pageBytes is the size of a page in the store's file.
const pageBytes = 4096

// TestADamagedPageIsNeverAnsweredAsData overwrites one page of a store. What the
// start reads refuses the file; what it does not read is an error when it is
// asked for. Neither ever shows fewer or other calls as if they were all.
func TestADamagedPageIsNeverAnsweredAsData(t *testing.T) {
	good, rng := closedStore(t), daemon.Dice(t)
	refused, failed := 0, 0
	for range daemon.Size(t, "MEMORYD_KILL_ROUNDS", 12) {
		dir := t.TempDir()
		path := filepath.Join(dir, "memoryd.db")
		copyFile(t, good, path)
		page := 1 + rng.Int64N(sizeOf(t, path)/pageBytes-1)
		overwrite(t, path, page*pageBytes, pageBytes, rng)
		before := digest(t, dir)
		p := binary.Try(t, dir, nil, "--config", keeping(t, 1000))
		if p.Ready == "" {
			refused++
			if code := p.ExitCode(); code != 1 || !strings.Contains(p.Log(), path) || digest(t, dir) != before {
				t.Errorf("page %d: exit code %d, or the file was changed:\n%s", page, code, p.Log())
			}
			continue
		}
		if !answersOrFails(t, p) {
			failed++
		}
		p.Kill()
	}
	t.Logf("%d refused at the start, %d failed when read", refused, failed)
}

// answersOrFails reads the history of closedStore and reports whether it came.
func answersOrFails(t *testing.T, p *daemon.Process) bool {
	t.Helper()
	r, err := p.Send("/retrieve_tool_memory", []byte(`{"tool_names": "t"}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Status >= http.StatusInternalServerError {
		return false
	}
	var a daemon.Answer
	if err := json.Unmarshal(r.Body, &a); err != nil || r.Status != http.StatusOK || len(a.Metadata.MemoryList) != 1 {
		t.Fatalf("HTTP %d: %.300s", r.Status, r.Body)
	}
	w := writer{tool: "t", sent: 100, acked: 100}
	w.check(t, &a.Metadata.MemoryList[0], 1000)
	return true
}
