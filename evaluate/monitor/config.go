package monitor

import "fmt"

// Config is the watch section of the configuration.
type Config struct {
	// Window is how many of a judge's newest evaluations are compared with those
	// before; of people's corrections a quarter of it.
	Window int `yaml:"window"`
	// AlikeAfter is how many evaluations in a row must have one score before that is
	// looked into.
	AlikeAfter int `yaml:"alike_after"`
}

// DefaultConfig is the configuration with every setting at its default.
func DefaultConfig() Config { return Config{Window: 200, AlikeAfter: 50} }

// The bounds of both settings.
const (
	minWindow, maxWindow = 40, 2000
	minAlike, maxAlike   = 20, 2000
)

// Validate reports the first setting that cannot work, by its yaml key.
func (c Config) Validate() error {
	if c.Window < minWindow || c.Window > maxWindow {
		return fmt.Errorf("window: must be %d to %d, got %d", minWindow, maxWindow, c.Window)
	}
	if c.AlikeAfter < minAlike || c.AlikeAfter > maxAlike {
		return fmt.Errorf("alike_after: must be %d to %d, got %d", minAlike, maxAlike, c.AlikeAfter)
	}
	return nil
}

// within brings settings that were not validated into their bounds.
func (c Config) within() Config {
	return Config{
		Window:     min(max(c.Window, minWindow), maxWindow),
		AlikeAfter: min(max(c.AlikeAfter, minAlike), maxAlike),
	}
}
