package sqlite

import (
	"errors"
)

// Config sets the place and the limits of the embedded store.
type Config struct {
	// Dir is the data folder. It is created with mode 0700 if it is missing. One process can use it
	// at a time.
	Dir string `yaml:"dir"`
	// Queue and QueueBytes limit the writes that wait for the next commit: their number, and the
	// bytes of their calls. Further writes are Overloaded.
	Queue      int   `yaml:"-"`
	QueueBytes int64 `yaml:"-"`
	// IdentityWindow is the number of newest calls that are remembered by key and content, so that
	// a repeat is recognised even after the history dropped the call. Each takes about 50 bytes of
	// memory.
	IdentityWindow int `yaml:"-"`
	// WALBytes is the size of the write-ahead log above which writers wait for a checkpoint.
	WALBytes int64 `yaml:"-"`
	// Readers is the number of concurrent reads of histories.
	Readers int `yaml:"-"`
	// SampleCache is the number of samples of recently used tools in memory, at about 60 bytes
	// each.
	SampleCache int `yaml:"-"`
	// VerdictCache is the number of newest cached verdicts on disk.
	VerdictCache int `yaml:"-"`
	// PageChecksums adds a checksum to each page of a new store, which is verified on each read. An
	// existing store keeps its format. Other programs that write the file, or checkpoint its log
	// after a crash, leave wrong checksums, and such pages are refused: let them read a copy.
	PageChecksums bool `yaml:"page_checksums"`
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	if c.Dir == "" {
		return errors.New("dir: must name a directory")
	}
	return nil
}

// UnmarshalYAML decodes a section and keeps constants that are not settings: a queue that a
// disk clears in seconds, a log that a restart reads within one second, calls and samples in 90
// MB of memory, and as many readers as one file can use. The queue holds what the server lets
// in: a request that is refused here was waited for and worked on in vain.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Queue, c.QueueBytes, c.WALBytes, c.Readers = 4096, 128<<20, 64<<20, 4
	c.IdentityWindow, c.SampleCache, c.VerdictCache = 1_000_000, 650_000, 100_000
	return unmarshal((*settings)(c))
}
