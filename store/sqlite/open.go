package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// fileName is the database in the data directory.
const fileName = "memoryd.db"

// Open opens the store in cfg.Dir, or creates it if the folder has none; call Start to start
// it. It fails, naming the file, if another process uses the folder, or if the file is
// damaged, of another program, or of a newer version.
func Open(ctx context.Context, cfg Config, log *slog.Logger) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the settings of the store are not valid")
	}
	if err := store.Ended(ctx); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s, err := open(ctx, cfg, log)
	if err != nil {
		msg := "the store could not be opened"
		if damaged(err) {
			msg += ": its file is damaged; run memoryd check --repair to keep the rest"
		}
		return nil, memoryd.Wrap(memoryd.Unavailable, err, msg)
	}
	return &Store{s.drainer.Guard(s), internals{s}}, nil
}

func open(ctx context.Context, cfg Config, log *slog.Logger) (s *backend, err error) {
	lock, err := prepareDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	w := newWriter(cfg, log)
	w.note = lock.note
	s = &backend{cat: w.cat, w: w, lock: lock, readers: make(chan *conn, cfg.Readers), worker: lifecycle.NewWorker(log, "committing")}
	s.ckpt = &checkpointer{w: w, log: log, limit: cfg.WALBytes / pageSize}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeFiles())
		}
	}()
	path := filepath.Join(cfg.Dir, fileName)
	for _, step := range []func() error{
		func() error { return checkPlace(path, lock) },
		func() error { return s.connectAll(path) },
		func() error { return w.load(ctx) },
		func() error { return w.checkCounter(lock) },
		func() error { return lock.note(counter{log: w.lastLog}) },
		func() error { return tighten(cfg.Dir, path) },
		func() error { return w.remember(path) },
		func() error { w.refill(); return nil },
	} {
		if err := step(); err != nil {
			return s, fmt.Errorf("%s: %w", path, err)
		}
	}
	return s, nil
}

// pageSize is SQLite's default, and right for calls of about 2 KB: one row a
// page.
const pageSize = 4096

func newWriter(cfg Config, log *slog.Logger) *writer {
	w := &writer{
		cfg: cfg, log: log, cat: newCatalog(), win: newWindow(cfg.IdentityWindow), pend: newPendingSet(),
		samples: newSampleCache(cfg.SampleCache), runs: newRunIndex(maxRunEntries),
		queue: make(chan *job, cfg.Queue), maxQueued: cfg.QueueBytes,
		wrote: make(chan struct{}, 1), note: func(counter) error { return nil }, records: []byte{},
	}
	w.wipeTime = wipeTime
	w.seenRows = entries{table: `seen`, bytes: identityBytes, most: cfg.IdentityWindow}
	w.runRows = entries{table: `runs`, bytes: runEntryBytes, most: maxRunEntries}
	w.foldEvery = min(1<<16, max(64, cfg.IdentityWindow/8))
	w.commit = func() error { return w.c.exec(`COMMIT`) }
	return w
}

// connectAll opens the file with all its connections.
func (s *backend) connectAll(path string) (err error) {
	if err := makeFile(path, s.w.cfg.PageChecksums); err != nil {
		return err
	}
	s.w.c, err = connect(path, `synchronous = FULL`, `wal_autocheckpoint = 0`,
		`cache_size = -16384`, `secure_delete = FAST`)
	if err != nil {
		return err
	}
	if err := checkSchema(s.w.c); err != nil {
		return err
	}
	s.ckpt.c, err = connect(path, `synchronous = FULL`, `wal_autocheckpoint = 0`, `busy_timeout = 1000`)
	if err != nil {
		return err
	}
	for range cap(s.readers) {
		c, err := connect(path, `query_only = ON`, `wal_autocheckpoint = 0`)
		if err != nil {
			return err
		}
		s.readers <- c
	}
	return nil
}

// prepareDir makes the directory, if need be, and locks it.
func prepareDir(dir string) (*dirLock, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		if err := syncDir(filepath.Dir(filepath.Clean(dir))); err != nil {
			return nil, err
		}
	}
	return lockDir(dir)
}

// makeFile lays a new store out beside its place and moves it there when it is
// whole, so that an empty or half-made file is never taken for a store.
func makeFile(path string, sums bool) error {
	_, err := os.Stat(path)
	if err == nil {
		if err := os.Chmod(path, 0o600); err != nil { // its log and index get the same
			return err
		}
		return checkHeader(path)
	}
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(path + "-wal"); err == nil {
		return errors.New("the file is missing, but its write-ahead log is there")
	}
	fresh := path + ".new"
	for _, leftover := range []string{fresh, fresh + "-wal", fresh + "-shm", fresh + "-journal"} {
		if err := os.Remove(leftover); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if sums {
		if err := os.WriteFile(fresh, emptyFile(), 0o600); err != nil {
			return err
		}
	}
	c, err := connect(fresh, fmt.Sprintf(`page_size = %d`, pageSize), `journal_mode = WAL`, `synchronous = FULL`)
	if err != nil {
		return err
	}
	if err := errors.Join(createSchema(c), c.close()); err != nil {
		return err
	}
	if err := os.Rename(fresh, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// checkHeader refuses what SQLite would silently begin anew, not recognise, or
// read past the end of.
func checkHeader(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	head := make([]byte, 100)
	if _, err := io.ReadFull(f, head); err != nil {
		return errors.New("it is not a memoryd store, or it is damaged")
	}
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.Size() > 0 {
		return nil // a crash may have left a torn page, which the log mends
	}
	if string(head[:len(magic)]) != magic {
		return errors.New("it is not a memoryd store, or it is damaged")
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	pages := int64(binary.BigEndian.Uint32(head[28:]))
	if want := pages * pageSize; info.Size() != want {
		return fmt.Errorf("it is damaged: it has %d bytes of %d", info.Size(), want)
	}
	return nil
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(flushDir(d), d.Close())
}
