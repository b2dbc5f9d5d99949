package rules

import "fmt"

// Config holds the settings of the rules. All of them concern the comparison
// with a tool's own history; what counts as an error is not configurable.
type Config struct {
	// MinHistory is how many earlier successes a comparison needs.
	MinHistory int `yaml:"min_history"`
	// CostMADs and CostRatio set what an unusual time or token cost is: more
	// than CostMADs scaled median absolute deviations above the median of the
	// tool's successes, and more than CostRatio times the median.
	CostMADs  float64 `yaml:"cost_mads"`
	CostRatio float64 `yaml:"cost_ratio"`
	// CostSeconds is the least difference from the median, in seconds, that
	// makes a time unusual: jitter of fast tools is no finding.
	CostSeconds float64 `yaml:"cost_seconds"`
}

// DefaultConfig gives the built-in settings.
func DefaultConfig() Config {
	return Config{MinHistory: 10, CostMADs: 6, CostRatio: 3, CostSeconds: 1}
}

// Validate reports the first setting that makes no sense, by its key.
func (c Config) Validate() error {
	switch {
	case c.MinHistory < 3:
		return fmt.Errorf("min_history: %d is less than 3", c.MinHistory)
	case !(c.CostMADs > 0):
		return fmt.Errorf("cost_mads: %v is not positive", c.CostMADs)
	case !(c.CostRatio > 1):
		return fmt.Errorf("cost_ratio: %v is not above 1", c.CostRatio)
	case !(c.CostSeconds >= 0):
		return fmt.Errorf("cost_seconds: %v is negative", c.CostSeconds)
	}
	return nil
}
