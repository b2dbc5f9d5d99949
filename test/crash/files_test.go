package crash

import (
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/test/crash/daemon"

	"modernc.org/sqlite"
)

// closedStore makes a data folder with a store of several hundred pages that was
// stopped cleanly, and gives its file.
func closedStore(t *testing.T, env ...string) string {
	t.Helper()
	dir := t.TempDir()
	p := binary.Start(t, dir, env, "--config", keeping(t, 1000))
	w := writer{tool: "t"}
	for range 100 {
		if !w.add(p) {
			t.Fatalf("no answer\n%s", p.Log())
		}
	}
	if code := p.Stop(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
	return filepath.Join(dir, "memoryd.db")
}

// run runs statements on the file with SQLite.
func run(t *testing.T, path string, statements ...string) {
	t.Helper()
	c, err := (&sqlite.Driver{}).Open("file:" + filepath.ToSlash(path))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, st := range statements {
		if _, err := c.(driver.ExecerContext).ExecContext(t.Context(), st, nil); err != nil {
			t.Fatal(err)
		}
	}
}

// overwrite writes rubbish over a part of the file.
func overwrite(t *testing.T, path string, offset, n int64, rng *rand.Rand) {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(data, offset); err != nil {
		t.Fatal(err)
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// digest is that of all files of a folder, but for the lock and the index of the
// log, which hold nothing of their own.
func digest(t *testing.T, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "lock" || strings.HasSuffix(path, "-shm") {
			return err
		}
		data, err := os.ReadFile(path)
		if len(data) == 0 && strings.HasSuffix(path, "-wal") {
			return err // the same as none
		}
		h.Write([]byte(d.Name()))
		h.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// TestAFileThatIsNoStoreIsRefusedAndLeftAlone starts the program on files that it
// must not use: it says why, ends with code 1 and touches nothing.
func TestAFileThatIsNoStoreIsRefusedAndLeftAlone(t *testing.T) {
	good, plain := closedStore(t), closedStore(t, "MEMORYD_STORE_SQLITE_PAGE_CHECKSUMS=false")
	tests := map[string]struct {
		damage func(t *testing.T, path string, rng *rand.Rand)
		why    string
	}{
		"rubbish for a header": {func(t *testing.T, path string, rng *rand.Rand) { overwrite(t, path, 0, 100, rng) }, "damaged"},
		"cut": {func(t *testing.T, path string, rng *rand.Rand) {
			if err := os.Truncate(path, rng.Int64N(sizeOf(t, path))); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		"empty": {func(t *testing.T, path string, _ *rand.Rand) {
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "damaged"},
		"a text": {func(t *testing.T, path string, _ *rand.Rand) {
			if err := os.WriteFile(path, []byte("dear diary"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a memoryd store"},
		"another program's": {func(t *testing.T, path string, _ *rand.Rand) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			run(t, path, `CREATE TABLE bookmarks (url TEXT)`, `INSERT INTO bookmarks VALUES ('a')`)
		}, "another program"},
		"a newer program's": {func(t *testing.T, path string, _ *rand.Rand) {
			copyFile(t, plain, path) // SQLite alone writes no checksums
			run(t, path, `PRAGMA user_version = 99`)
		}, "format version 99"},
		"schema page damaged": {func(t *testing.T, path string, rng *rand.Rand) { overwrite(t, path, 100, 3900, rng) }, "damaged"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			rng, dir := daemon.Dice(t), t.TempDir()
			path := filepath.Join(dir, "memoryd.db")
			copyFile(t, good, path)
			tc.damage(t, path, rng)
			before := digest(t, dir)
			code, stdout, stderr := binary.Run(t, "", "serve", "--listen", "127.0.0.1:0", "--data", dir)
			if code != 1 || stdout != "" || !strings.Contains(stderr, path) || !strings.Contains(stderr, tc.why) {
				t.Errorf("exit code %d, %q; the message has to name the file and say %q:\n%s", code, stdout, tc.why, stderr)
			}
			if strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
				t.Errorf("more than one line:\n%s", stderr)
			}
			if digest(t, dir) != before {
				t.Error("the folder was changed")
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
