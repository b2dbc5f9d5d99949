package compact

import (
	"time"
)

// Config configures a Compactor.
type Config struct {
	// Profile is used by requests without one.
	Profile  string           `yaml:"profile"`
	Default  DefaultSettings  `yaml:"default"`
	DeerFlow DeerFlowSettings `yaml:"deerflow"`
	Forge    ForgeSettings    `yaml:"forge"`
	RAAid    RAAidSettings    `yaml:"ra_aid"`
	Model    ModelSettings    `yaml:"model"`
	// Exclusions apply to each profile that has them.
	Exclusions `yaml:",inline"`

	// MediaTokens is the flat cost of an image, an audio part or a file.
	MediaTokens int `yaml:"-"`
	// MinGainFraction is the minimum share of the tokens that a compaction must free, unless
	// the caller forces it.
	MinGainFraction float64 `yaml:"-"`
	// CoolDownFraction is the share of the size after the last compaction that must be added
	// before the next one.
	CoolDownFraction float64 `yaml:"-"`
	// SummaryTokens limits the summary message in profiles without a target size.
	SummaryTokens int `yaml:"-"`
	// RememberFor is how long the answer to a request is kept, in case the request is
	// repeated.
	RememberFor time.Duration `yaml:"-"`
	// KeepOriginals is how long originals are kept after the last compaction that used them;
	// 0 keeps them permanently. A custom store enforces this itself.
	KeepOriginals time.Duration `yaml:"keep_originals"`
}

// ModelSettings limit the use of a model.
type ModelSettings struct {
	// PromptTokens limits one request; the rest goes into further requests.
	PromptTokens int `yaml:"-"`
	// AnswerTokens limits one answer.
	AnswerTokens int `yaml:"-"`
	// Parallel is the number of concurrent requests of one run.
	Parallel int           `yaml:"-"`
	Timeout  time.Duration `yaml:"-"`
	// OnFailure is "extract" (use the deterministic summary) or "keep" (return the
	// conversation unchanged).
	OnFailure string `yaml:"on_failure" must:"extract or keep"`
}

// UnmarshalYAML decodes a section and keeps constants that are not settings. A request can
// override any setting of its profile. The constants are the defaults of the programs that
// the profiles are named after, and limits that a small model can handle.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.MediaTokens, c.MinGainFraction, c.CoolDownFraction, c.SummaryTokens = 765, 0.1, 0.1, 2000
	c.RememberFor = 10 * time.Minute
	m := &c.Model
	m.PromptTokens, m.AnswerTokens, m.Parallel, m.Timeout = 24_000, 800, 8, time.Minute
	c.DeerFlow.Enabled, c.RAAid.EnableCondensation = true, true
	c.RAAid.MaxTokensPerSummary, c.RAAid.SummaryBufferRatio, c.RAAid.HybridLoss = 500, 0.2, 0.1
	err := unmarshal((*settings)(c))
	c.Default.Exclusions, c.Forge.Exclusions = c.Exclusions, c.Exclusions
	return err
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	for _, name := range []string{"default", "deerflow", "forge", "ra_aid", c.Profile} {
		if _, _, err := c.profileFor(Request{Profile: name, MaxInputTokens: 1}); err != nil {
			return err
		}
	}
	return nil
}
