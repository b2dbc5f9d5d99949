package evaluate

import (
	"strings"
	"testing"
	"time"

	"memoryd/internal/configtest"
)

func TestConfigNamesTheKeyThatIsWrong(t *testing.T) {
	if err := configtest.Section[Config]("evaluate").Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	for key, change := range map[string]func(*Config){
		"judge":             func(c *Config) { c.Judge = "oracle" },
		"on_model_failure":  func(c *Config) { c.OnModelFailure = "failed" },
		"on_unjudgeable":    func(c *Config) { c.OnUnjudgeable = "pending" },
		"batch_size":        func(c *Config) { c.BatchSize = 33 },
		"workers":           func(c *Config) { c.Workers = 0 },
		"queue_size":        func(c *Config) { c.QueueSize = 0 },
		"max_input_bytes":   func(c *Config) { c.MaxInput = 1 },
		"max_output_bytes":  func(c *Config) { c.MaxOutput = 2 << 20 },
		"earlier_verdicts":  func(c *Config) { c.EarlierVerdicts = -1 },
		"max_attempts":      func(c *Config) { c.MaxAttempts = 0 },
		"profile_tools":     func(c *Config) { c.ProfileTools = 0 },
		"profile_calls":     func(c *Config) { c.ProfileCalls = 0 },
		"wait":              func(c *Config) { c.Wait = -time.Second },
		"request_timeout":   func(c *Config) { c.RequestTimeout = 0 },
		"retry_min":         func(c *Config) { c.RetryMin = 0 },
		"retry_max":         func(c *Config) { c.RetryMax = time.Second },
		"sweep_interval":    func(c *Config) { c.SweepInterval = 0 },
		"lease":             func(c *Config) { c.Lease = 48 * time.Hour },
		"profile_ttl":       func(c *Config) { c.ProfileTTL = 0 },
		"rules.min_history": func(c *Config) { c.Rules.MinHistory = 0 },
	} {
		c := configtest.Section[Config]("evaluate")
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: got error %v", key, err)
		}
	}
}
