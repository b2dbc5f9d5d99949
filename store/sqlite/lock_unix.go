//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// dirLock keeps other processes out of a data directory. The system releases
// it when the process dies.
type dirLock struct{ f *os.File }

func lockDir(dir string) (*dirLock, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("the data directory %s is in use by another process", dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &dirLock{f}, nil
}

func (l *dirLock) release() error { return l.f.Close() }

func flushDir(d *os.File) error { return d.Sync() }
