package usage

import "time"

// Config is the usage section of the configuration. A limit of 0 means no limit.
type Config struct {
	// RequestsPerHour and RequestsPerDay limit the requests to models, including failed ones. Hours
	// and days are in UTC.
	RequestsPerHour int64 `yaml:"requests_per_hour" must:"0 (no limit) or more"`
	RequestsPerDay  int64 `yaml:"requests_per_day" must:"0 (no limit) or more"`
	// TokensPerHour and TokensPerDay limit the tokens of prompts and answers together, as reported
	// by the servers.
	TokensPerHour int64 `yaml:"tokens_per_hour" must:"0 (no limit) or more"`
	TokensPerDay  int64 `yaml:"tokens_per_day" must:"0 (no limit) or more"`
	// Keep is how long to keep the rows of an hour.
	Keep time.Duration `yaml:"-"`
	// FlushInterval is the time between writes of changed rows.
	FlushInterval time.Duration `yaml:"-"`
}

// UnmarshalYAML decodes a section and keeps constants that are not settings: five weeks cover
// a whole month, and two seconds are the most that a killed process loses.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.Keep, c.FlushInterval = 35*24*time.Hour, 2*time.Second
	return unmarshal((*settings)(c))
}

// limited reports whether there is any budget.
func (c Config) limited() bool {
	return c.RequestsPerHour > 0 || c.RequestsPerDay > 0 || c.TokensPerHour > 0 || c.TokensPerDay > 0
}
