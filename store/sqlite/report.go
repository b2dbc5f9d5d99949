package sqlite

import (
	"os"
	"path/filepath"
)

// FileBytes is the size of the database file.
func (s *backend) FileBytes() int64 { return sizeOf(filepath.Join(s.w.cfg.Dir, fileName)) }

// WALBytes is the size of the write-ahead log.
func (s *backend) WALBytes() int64 { return sizeOf(filepath.Join(s.w.cfg.Dir, fileName+"-wal")) }

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}

// QueuedWrites is how many writes wait for a commit.
func (s *backend) QueuedWrites() int64 { return int64(len(s.w.queue)) }

// PendingCalls is how many stored calls have no verdict yet.
func (s *backend) PendingCalls() int64 {
	s.w.pend.mu.Lock()
	defer s.w.pend.mu.Unlock()
	return int64(len(s.w.pend.byKey))
}
