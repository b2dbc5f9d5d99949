package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// The lock file holds how far the store has come: the newest log row, for each commit writes
// one (and the count of those that wrote none, by versions which did that). It is written after each commit and never flushed, so it may
// be behind what the files hold after a crash, but never ahead: a store that holds less
// has lost commits that were acknowledged. A write-ahead log that was damaged in its
// middle ends there for SQLite, and nothing else would tell.

const counterBytes = 32

type counter struct{ log, commits int64 }

func (c counter) encode() []byte {
	b := append(make([]byte, 0, counterBytes), "memoryd1"...)
	b = binary.BigEndian.AppendUint64(b, uint64(c.log))
	b = binary.BigEndian.AppendUint64(b, uint64(c.commits))
	return binary.BigEndian.AppendUint64(b, uint64(crc32.Checksum(b, castagnoli)))
}

// note writes how far the store has come. That it fails loses no call, only the proof
// that none is lost.
func (l *dirLock) note(c counter) error {
	_, err := l.f.WriteAt(c.encode(), 0)
	return err
}

// counter reads what was noted last: nothing by versions before there was a counter.
func (l *dirLock) counter() (c counter, known bool, err error) {
	b := make([]byte, counterBytes+1)
	n, err := l.f.ReadAt(b, 0)
	if n == 0 && errors.Is(err, io.EOF) {
		return c, false, nil
	}
	if n != counterBytes {
		return c, false, errors.New("the file lock beside the store is damaged: run memoryd check --repair")
	}
	c = counter{int64(binary.BigEndian.Uint64(b[8:])), int64(binary.BigEndian.Uint64(b[16:]))}
	if string(b[:counterBytes]) != string(c.encode()) {
		return c, false, errors.New("the file lock beside the store is damaged: run memoryd check --repair")
	}
	return c, true, nil
}

// checkPlace refuses a folder whose database is gone while its counter is there.
func checkPlace(path string, l *dirLock) error {
	_, err := os.Stat(path)
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if c, known, err := l.counter(); err != nil || known && c != (counter{}) {
		return errors.Join(errors.New("the store's database is missing, though the folder had one; put it back, or remove the file lock to start with an empty store"), err)
	}
	return nil
}

// checkCounter compares what was loaded with what was noted.
func (w *writer) checkCounter(l *dirLock) error {
	noted, known, err := l.counter()
	if err != nil || !known {
		return err
	}
	if w.lastLog < noted.log {
		return fmt.Errorf("it is damaged: its newest %d commits are missing; run memoryd check --repair to keep the rest", noted.log-w.lastLog)
	}
	return nil
}

// tighten takes the folder and its files away from others.
func tighten(dir, path string) error {
	errs := []error{os.Chmod(dir, 0o700)} //nolint:gosec // a folder
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		if err := os.Chmod(name, 0o600); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
