package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"memoryd/internal/lifecycle"

	sqlite3 "modernc.org/sqlite/lib"
)

// How long a deletion waits for its bytes to be gone, and how often it looks.
const (
	wipeTime  = 30 * time.Second
	wipePause = 2 * time.Millisecond
)

// wipe waits until what was deleted stands in no file any more: its rows are
// overwritten, and the write-ahead log, which holds older forms of the pages, is empty. What a long reading
// keeps from being wiped in time goes with the next checkpoint.
func (s *backend) wipe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.w.wipeTime)
	defer cancel()
	for s.w.trimLag.Load() > 0 && s.w.failed.Load() == nil {
		if !lifecycle.Sleep(ctx, wipePause) {
			return nil // it goes on in the background
		}
	}
	for {
		s.ckpt.one.Lock()
		busy, err := s.ckpt.alone(`TRUNCATE`)
		s.ckpt.one.Unlock()
		if err == nil && !busy {
			s.w.refill()
			return nil
		}
		s.w.clean.Store(true)
		s.w.stir()
		if !lifecycle.Sleep(ctx, wipePause) {
			return nil
		}
	}
}

// A file of so many bytes keeps room on the disk for deletions: they write before they
// free anything.
const (
	ballastName  = "reserve"
	ballastBytes = 4 << 20
)

func (w *writer) ballast() string { return filepath.Join(w.cfg.Dir, ballastName) }

// release frees the reserve where the disk is full and a deletion needs room; it reports
// whether there was one.
func (w *writer) releaseBallast(err error) bool {
	if codeOf(err)&0xff != sqlite3.SQLITE_FULL {
		return false
	}
	return os.Remove(w.ballast()) == nil
}

// refill makes the reserve anew where there is room.
func (w *writer) refill() {
	if info, err := os.Stat(w.ballast()); err == nil && info.Size() == ballastBytes {
		return
	}
	b := make([]byte, ballastBytes)
	for i := range b {
		b[i] = byte(i)*31 + 1 // no file system keeps this as a hole
	}
	if err := os.WriteFile(w.ballast(), b, 0o600); err != nil {
		if err := os.Remove(w.ballast()); err != nil && !errors.Is(err, os.ErrNotExist) {
			w.log.Warn("store: cannot reserve room for deletions", "err", err)
		}
	}
}
