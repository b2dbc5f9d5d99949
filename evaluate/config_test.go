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
		"judge":            func(c *Config) { c.Judge = "oracle" },
		"on_model_failure": func(c *Config) { c.OnModelFailure = "failed" },
		"on_unjudgeable":   func(c *Config) { c.OnUnjudgeable = "pending" },
		"wait":             func(c *Config) { c.Wait = -time.Second },
		"lease":            func(c *Config) { c.Lease = 48 * time.Hour },
	} {
		c := configtest.Section[Config]("evaluate")
		change(&c)
		if err := c.Validate(); err == nil || !strings.HasPrefix(err.Error(), key+": ") {
			t.Errorf("%s: got error %v", key, err)
		}
	}
}
