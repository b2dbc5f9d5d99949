//go:build unix

package crash

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnAddIsRefusedWhereTheStoresFileIsGone: adds were answered with success while they
// went to a file that had no name any more (defect O5).
func TestAnAddIsRefusedWhereTheStoresFileIsGone(t *testing.T) {
	for name, remove := range map[string]func(dir string) error{
		"the file":     func(dir string) error { return os.Remove(filepath.Join(dir, "memoryd.db")) },
		"the log":      func(dir string) error { return os.Remove(filepath.Join(dir, "memoryd.db-wal")) },
		"the folder":   os.RemoveAll,
		"another file": func(dir string) error { return os.Rename(filepath.Join(dir, "memoryd.db"), filepath.Join(dir, "away")) },
	} {
		dir := filepath.Join(t.TempDir(), "data")
		p := binary.Start(t, dir, nil)
		w := &writer{tool: "t"}
		if !w.add(p) {
			t.Fatalf("%s: %+v", name, w.last)
		}
		if ready := p.Get("/readyz"); ready.Status != http.StatusOK {
			t.Fatalf("%s: unready before: %s", name, ready.Body)
		}
		if err := remove(dir); err != nil {
			t.Fatal(err)
		}
		if w.add(p) || w.last.Status != http.StatusServiceUnavailable || w.last.Header.Get("Retry-After") == "" || !strings.Contains(string(w.last.Body), `"success":false`) {
			t.Errorf("%s is gone, and an add gets %d %s", name, w.last.Status, w.last.Body)
		}
		ready := p.Get("/readyz")
		if ready.Status != http.StatusServiceUnavailable || !strings.Contains(string(ready.Body), "removed or replaced") {
			t.Errorf("%s is gone, and /readyz says %d %s", name, ready.Status, ready.Body)
		}
		p.Kill()
	}
}
