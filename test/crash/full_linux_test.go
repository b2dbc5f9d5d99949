package crash

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"memoryd/store/storetest"
	"memoryd/test/crash/daemon"
)

// smallDisk mounts a file system of a few megabytes. Without the right to mount
// the test is skipped; test/powerloss fills a simulated disk everywhere.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestAFullDiskRefusesWritesAndLosesNothing fills the disk under the running
// server, and gives room again; then it is killed on a full disk.
func TestAFullDiskRefusesWritesAndLosesNothing(t *testing.T) {
	disk := smallDisk(t, "6m")
	filler := filepath.Join(disk, "filler")
	config := keeping(t, 1000)
	p := binary.Start(t, filepath.Join(disk, "data"), nil, "--config", config)
	w := &writer{tool: "t", pad: storetest.Noise(9000)}
	for range 5 {
		if !w.add(p) {
			t.Fatalf("no answer\n%s", p.Log())
		}
	}
	for range 3 {
		fill(t, filler)
		writeUntilFull(t, p, w)
		checkAll(t, p, []*writer{w}, 1000, nil)
		remove(t, filler)
		if !w.add(p) {
			t.Fatalf("still refused when there is room again: %+v\n%s", w.last, p.Log())
		}
		checkAll(t, p, []*writer{w}, 1000, nil)
	}
	fill(t, filler)
	writeUntilFull(t, p, w)
	p.Kill()
	p = binary.Try(t, filepath.Join(disk, "data"), nil, "--config", config)
	if p.Ready == "" && !strings.Contains(p.Log(), "memoryd.db") {
		t.Errorf("a start on a full disk: %s", p.Log())
	}
	p.Kill()
	remove(t, filler)
	p = binary.Start(t, filepath.Join(disk, "data"), nil, "--config", config)
	checkAll(t, p, []*writer{w}, 1000, nil)
	if !w.add(p) {
		t.Fatalf("refused after the restart: %+v\n%s", w.last, p.Log())
	}
	checkAll(t, p, []*writer{w}, 1000, nil)
}

// writeUntilFull adds calls until one is refused, which has to be done properly.
func writeUntilFull(t *testing.T, p *daemon.Process, w *writer) {
	t.Helper()
	for range 200 {
		if w.add(p) {
			continue
		}
		if w.last.Status != http.StatusServiceUnavailable || w.last.Header.Get("Retry-After") == "" ||
			!strings.Contains(string(w.last.Body), `"success":false`) {
			t.Errorf("refused with %d, %v: %s", w.last.Status, w.last.Header, w.last.Body)
		}
		if ready := p.Get("/readyz"); ready.Status != http.StatusServiceUnavailable || !strings.Contains(string(ready.Body), "full") {
			t.Errorf("a write was refused, and /readyz says %d %s", ready.Status, ready.Body) // defect O5
		}
		return
	}
	t.Fatal("the disk is never full")
}
