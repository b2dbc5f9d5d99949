package usage

import (
	"fmt"
	"time"
)

// Config is the usage section of the configuration. A limit of 0 is none.
type Config struct {
	// RequestsPerHour and RequestsPerDay bound the requests to models, failed
	// ones included; hours and days are those of UTC.
	RequestsPerHour int64 `yaml:"requests_per_hour"`
	RequestsPerDay  int64 `yaml:"requests_per_day"`
	// TokensPerHour and TokensPerDay bound the tokens of prompts and answers
	// together, as the models' servers report them.
	TokensPerHour int64 `yaml:"tokens_per_hour"`
	TokensPerDay  int64 `yaml:"tokens_per_day"`
	// Keep is how long the rows of an hour are kept.
	Keep time.Duration `yaml:"-"`
	// FlushInterval is how often rows that changed are written.
	FlushInterval time.Duration `yaml:"-"`
}

// UnmarshalYAML reads a section over what nobody has had a reason to change: five weeks,
// so that a month can be looked back on, and two seconds, the most that a kill can take.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Keep, c.FlushInterval = 35*24*time.Hour, 2*time.Second
	return unmarshal((*settings)(c))
}

// Validate reports the first setting that cannot work, by its yaml key.
func (c Config) Validate() error {
	for _, l := range []struct {
		key   string
		limit int64
	}{
		{"requests_per_hour", c.RequestsPerHour},
		{"requests_per_day", c.RequestsPerDay},
		{"tokens_per_hour", c.TokensPerHour},
		{"tokens_per_day", c.TokensPerDay},
	} {
		if l.limit < 0 {
			return fmt.Errorf("%s: must be 0 (no limit) or more, got %d", l.key, l.limit)
		}
	}
	return nil
}

// limited reports whether there is any budget.
func (c Config) limited() bool {
	return c.RequestsPerHour > 0 || c.RequestsPerDay > 0 || c.TokensPerHour > 0 || c.TokensPerDay > 0
}
