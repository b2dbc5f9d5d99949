package sqlite

import (
	"database/sql/driver"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"memoryd/internal/configtest"

	"memoryd"

	"go.uber.org/goleak"
)

// closedStore makes a store with some content and closes it.
func closedStore(t *testing.T) Config {
	t.Helper()
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(50, "t", 1, 80))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return cfg
}

// wantRefused checks that the store does not open, and that the error names the
// file and says why.
func wantRefused(t *testing.T, cfg Config, why string) {
	t.Helper()
	s, err := Open(t.Context(), cfg, nil)
	if err == nil {
		err = errors.Join(errors.New("it was opened"), s.Close())
	}
	if !memoryd.IsKind(err, memoryd.Unavailable) || !strings.Contains(err.Error(), cfg.Dir) || !strings.Contains(err.Error(), why) {
		t.Errorf("got %v; want it to name %s and say %q", err, cfg.Dir, why)
	}
}

// alter runs statements on the closed file.
func alter(t *testing.T, cfg Config, statements ...string) {
	t.Helper()
	c, err := connect(filepath.Join(cfg.Dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range statements {
		if err := c.exec(st); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.close(); err != nil {
		t.Fatal(err)
	}
}

func TestTheDirectoryIsMadeForTheOwnerOnly(t *testing.T) {
	cfg := settings(filepath.Join(t.TempDir(), "a", "b"))
	openTuned(t, cfg, nil)
	info, err := os.Stat(cfg.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
		t.Errorf("its mode is %v", info.Mode())
	}
}

func TestASecondStoreOnTheDirectoryIsRefused(t *testing.T) {
	cfg := settings(t.TempDir())
	s := openTuned(t, cfg, nil)
	wantRefused(t, cfg, "in use by another process")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	openTuned(t, cfg, nil)
}

func TestFilesThatAreNotOursAreRefused(t *testing.T) {
	path := func(cfg Config) string { return filepath.Join(cfg.Dir, fileName) }
	write := func(data string) func(*testing.T, Config) {
		return func(t *testing.T, cfg Config) {
			if err := os.WriteFile(path(cfg), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := map[string]struct {
		damage func(t *testing.T, cfg Config)
		why    string
	}{
		"empty":   {write(""), "damaged"},
		"garbage": {write(strings.Repeat("no database ", 1000)), "damaged"},
		"zeros":   {write(strings.Repeat("\x00", 8192)), "damaged"},
		"foreign": {func(t *testing.T, cfg Config) {
			alter(t, cfg, `PRAGMA application_id = 7`)
		}, "another program"},
		"newer": {func(t *testing.T, cfg Config) {
			alter(t, cfg, `PRAGMA user_version = 99`)
		}, "format version 99"},
		"no version": {func(t *testing.T, cfg Config) {
			alter(t, cfg, `PRAGMA user_version = 0`)
		}, "format version 0"},
		"lost table": {func(t *testing.T, cfg Config) { alter(t, cfg, `DROP TABLE state`) }, "reading state"},
		"torn state": {func(t *testing.T, cfg Config) {
			alter(t, cfg, `INSERT INTO state VALUES (1,1,1,1,1,1,x'80')`)
		}, "damaged"},
		"torn log": {func(t *testing.T, cfg Config) {
			alter(t, cfg, `INSERT INTO log VALUES (99999,1,x'4100')`)
		}, "damaged"},
		"log without file": {func(t *testing.T, cfg Config) {
			if err := os.Rename(path(cfg), path(cfg)+"-wal"); err != nil {
				t.Fatal(err)
			}
		}, "missing"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := closedStore(t)
			tc.damage(t, cfg)
			wantRefused(t, cfg, tc.why)
		})
	}
}

func TestATruncatedFileIsRefused(t *testing.T) {
	for _, cut := range []int64{1, 100, 4096, 10_000} {
		cfg := closedStore(t)
		path := filepath.Join(cfg.Dir, fileName)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{info.Size() - cut, cut} {
			if err := os.Truncate(path, size); err != nil {
				t.Fatal(err)
			}
			wantRefused(t, cfg, "")
		}
	}
}

func TestAHalfMadeFileIsMadeAnew(t *testing.T) {
	cfg := settings(t.TempDir())
	for _, name := range []string{".new", ".new-wal", ".new-shm"} {
		if err := os.WriteFile(filepath.Join(cfg.Dir, fileName+name), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := openTuned(t, cfg, nil)
	mustAppend(t, s, testBatch(9, "t", 1, 2))
	matches, err := fs.Glob(os.DirFS(cfg.Dir), "*.new*")
	if err != nil || len(matches) > 0 {
		t.Errorf("left over: %v, %v", matches, err)
	}
}

func TestEveryCommitIsFlushed(t *testing.T) {
	s := openTuned(t, settings(t.TempDir()), nil)
	inWriter(t, s, func(d *draft) error {
		for pragma, want := range map[string]int64{"synchronous": 2, "wal_autocheckpoint": 0, "page_size": pageSize} {
			if got, err := d.c.number(`PRAGMA ` + pragma); err != nil || got != want {
				t.Errorf("%s is %d, %v, want %d", pragma, got, err, want)
			}
		}
		mode := ""
		err := d.c.query(t.Context(), `PRAGMA journal_mode`, func(v []driver.Value) error { mode = str(v[0]); return nil })
		if mode != "wal" {
			t.Errorf("journal mode %q", mode)
		}
		return err
	})
}

func TestSettingsAreChecked(t *testing.T) {
	if err := configtest.Section[Config]("store.sqlite").Validate(); err != nil {
		t.Fatal(err)
	}
	change := map[string]func(*Config){
		"dir": func(c *Config) { c.Dir = "" },
	}
	for key, f := range change {
		cfg := settings(t.TempDir())
		f(&cfg)
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), key+":") {
			t.Errorf("%s: got %v", key, err)
		}
		if _, err := Open(t.Context(), cfg, nil); !memoryd.IsKind(err, memoryd.Invalid) {
			t.Errorf("%s: opening gave %v", key, err)
		}
	}
}

// TestOpenStartsNothing is for the rule that constructors start no goroutine.
func TestOpenStartsNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	s, err := Open(t.Context(), settings(t.TempDir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if _, err := s.ListTools(t.Context(), "w", "", 9); err != nil {
		t.Errorf("reading: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
