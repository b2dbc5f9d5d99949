package main

import (
	"os"
	"path/filepath"
	"syscall"
)

// logBytes is the size of the log, which is written round and round: a file that
// has its size already is flushed in half the time of one that grows.
const logBytes = 64 << 20

// openLog is a log that each request is appended to, with one flush for all that
// wait: the floor of any durable store.
func openLog(dir string) (sink, func() error, error) {
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	if err := allocate(f); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	at := int64(0)
	var buf []byte
	c := newCommitter(func(bodies [][]byte) error {
		buf = buf[:0]
		for _, b := range bodies {
			buf = append(buf, b...)
		}
		if at+int64(len(buf)) > logBytes {
			at = 0
		}
		if _, err := f.WriteAt(buf, at); err != nil {
			return err
		}
		at += int64(len(buf))
		return syscall.Fdatasync(int(f.Fd()))
	})
	take := func(body []byte, _ *wireRequest) error { return c.add(body) }
	return take, func() error { c.close(); return f.Close() }, nil
}

// allocate writes the whole file once.
func allocate(f *os.File) error {
	block := make([]byte, 1<<20)
	for at := int64(0); at < logBytes; at += int64(len(block)) {
		if _, err := f.WriteAt(block, at); err != nil {
			return err
		}
	}
	return f.Sync()
}
