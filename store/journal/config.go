package journal

import (
	"cmp"
	"time"

	"memoryd/store"
)

// Config is how much may wait for the remote store, and for how long callers do.
type Config struct {
	// MaxBacklog is how many calls, verdicts and deletions may wait to be
	// forwarded. What would go beyond is refused as overloaded.
	MaxBacklog int `yaml:"max_backlog"`
	// ForwardBatch is how many of them one request to the remote store carries at
	// most.
	ForwardBatch int `yaml:"forward_batch"`
	// RetryMin and RetryMax are the first and the longest wait between tries while
	// the remote store is away; it doubles from one to the other.
	RetryMin time.Duration `yaml:"retry_min"`
	RetryMax time.Duration `yaml:"retry_max"`
	// RepairInterval is the time between comparisons of the local copy with the
	// remote store; 0 means none but on request.
	RepairInterval time.Duration `yaml:"repair_interval"`
	// RemoteWait is how long a caller waits for the remote store before it is
	// answered from the local one, or refused if that cannot answer.
	RemoteWait time.Duration `yaml:"remote_wait"`
}

// Validate names the first setting that cannot work.
func (c Config) Validate() error {
	return cmp.Or(
		store.Within("max_backlog", c.MaxBacklog, 1, 10_000_000), store.Within("forward_batch", c.ForwardBatch, 1, 10_000),
		store.Within("retry_min", c.RetryMin, time.Millisecond, time.Hour), store.Within("retry_max", c.RetryMax, c.RetryMin, time.Hour),
		store.Within("repair_interval", c.RepairInterval, 0, 30*24*time.Hour),
		store.Within("remote_wait", c.RemoteWait, time.Millisecond, time.Minute),
	)
}
