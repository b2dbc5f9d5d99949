package sqlite

import (
	"errors"
)

// Config is where the embedded store lives and how much it may take.
type Config struct {
	// Dir is the data directory. It is made with mode 0700 if it is missing,
	// and used by one process at a time.
	Dir string `yaml:"dir"`
	// Queue is how many writes may wait for the next commit, and QueueBytes how
	// many bytes of calls they may hold together. A write beyond either is
	// refused as overloaded.
	Queue      int   `yaml:"-"`
	QueueBytes int64 `yaml:"-"`
	// IdentityWindow is how many of the newest accepted calls are remembered by
	// key and content, so that one sent again is recognised after its history
	// let it go. Each costs about 50 bytes of memory.
	IdentityWindow int `yaml:"-"`
	// WALBytes is the size of the write-ahead log at which writers wait until
	// it has been worked off.
	WALBytes int64 `yaml:"-"`
	// Readers is how many reads of histories run at once.
	Readers int `yaml:"-"`
	// SampleCache is how many samples of recently asked tools stay in memory,
	// at about 40 bytes each.
	SampleCache int `yaml:"-"`
	// VerdictCache is how many of the newest cached verdicts are kept on disk.
	VerdictCache int `yaml:"-"`
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
	return nil
}

// UnmarshalYAML reads a section over what nobody has had a reason to change: a queue
// that a disk works off in seconds, a log that a restart reads back within one, a
// million calls and samples remembered in 90 MB of memory, and as many readers as
// gain from one file.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Queue, c.QueueBytes, c.WALBytes, c.Readers = 4096, 64<<20, 64<<20, 4
	c.IdentityWindow, c.SampleCache, c.VerdictCache = 1_000_000, 1_000_000, 100_000
	return unmarshal((*settings)(c))
}
