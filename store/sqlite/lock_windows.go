package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// errSharing is ERROR_SHARING_VIOLATION.
const errSharing syscall.Errno = 32

// dirLock keeps other processes out of a data directory: a file opened without
// sharing. The system releases it when the process dies.
type dirLock struct{ f *os.File }

func lockDir(dir string) (*dirLock, error) {
	name, err := syscall.UTF16PtrFromString(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil,
		syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharing) {
		err = fmt.Errorf("the data directory %s is in use by another process", dir)
	}
	if err != nil {
		return nil, err
	}
	return &dirLock{os.NewFile(uintptr(h), "lock")}, nil
}

func (l *dirLock) release() error { return l.f.Close() }

// flushDir does nothing: this system keeps names durable by itself and cannot
// flush a directory.
func flushDir(*os.File) error { return nil }
