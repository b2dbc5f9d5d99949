package usage

import (
	"fmt"
	"time"
)

// Config is the spend section of the configuration. A limit of 0 is none.
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
	Keep time.Duration `yaml:"keep"`
	// FlushInterval is how often rows that changed are written.
	FlushInterval time.Duration `yaml:"flush_interval"`
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
	for _, d := range []struct {
		key              string
		value, least, to time.Duration
	}{
		{"keep", c.Keep, 48 * time.Hour, 10 * 365 * 24 * time.Hour},
		{"flush_interval", c.FlushInterval, 10 * time.Millisecond, 10 * time.Minute},
	} {
		if d.value < d.least || d.value > d.to {
			return fmt.Errorf("%s: must be %v to %v, got %v", d.key, d.least, d.to, d.value)
		}
	}
	return nil
}

// limited reports whether there is any budget.
func (c Config) limited() bool {
	return c.RequestsPerHour > 0 || c.RequestsPerDay > 0 || c.TokensPerHour > 0 || c.TokensPerDay > 0
}
