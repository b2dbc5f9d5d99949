package sqlite

import (
	"cmp"
	"errors"

	"memoryd/store"
)

// Config is where the embedded store lives and how much it may take.
type Config struct {
	// Dir is the data directory. It is made with mode 0700 if it is missing,
	// and used by one process at a time.
	Dir string `yaml:"dir"`
	// Queue is how many writes may wait for the next commit, and QueueBytes how
	// many bytes of calls they may hold together. A write beyond either is
	// refused as overloaded.
	Queue      int   `yaml:"queue"`
	QueueBytes int64 `yaml:"queue_bytes"`
	// IdentityWindow is how many of the newest accepted calls are remembered by
	// key and content, so that one sent again is recognised after its history
	// let it go. Each costs about 50 bytes of memory.
	IdentityWindow int `yaml:"identity_window"`
	// WALBytes is the size of the write-ahead log at which writers wait until
	// it has been worked off.
	WALBytes int64 `yaml:"wal_bytes"`
	// Readers is how many reads of histories run at once.
	Readers int `yaml:"readers"`
	// SampleCache is how many samples of recently asked tools stay in memory,
	// at about 40 bytes each.
	SampleCache int `yaml:"sample_cache"`
	// VerdictCache is how many of the newest cached verdicts are kept on disk.
	VerdictCache int `yaml:"verdict_cache"`
	// PageChecksums gives a store that is made a checksum in each page, which every
	// reading compares. A store that was made with it keeps it. Another program that
	// writes such a file, or works off its log after a crash, leaves pages without right
	// checksums, which are then refused: read a copy.
	PageChecksums bool `yaml:"page_checksums"`
}

// Validate names the first setting that cannot work.
func (c Config) Validate() error {
	if c.Dir == "" {
		return errors.New("dir: must name a directory")
	}
	return cmp.Or(
		store.Within("queue", c.Queue, 1, 1<<20), store.Within("queue_bytes", c.QueueBytes, 1<<20, 1<<40),
		store.Within("identity_window", c.IdentityWindow, 1, 1<<28), store.Within("wal_bytes", c.WALBytes, 1<<20, 1<<40),
		store.Within("readers", c.Readers, 1, 64), store.Within("sample_cache", c.SampleCache, 0, 1<<28),
		store.Within("verdict_cache", c.VerdictCache, 1, 1<<28),
	)
}
