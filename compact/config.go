package compact

import (
	"time"

	"memoryd"
)

// Config configures a Compactor.
type Config struct {
	// Profile is used by requests that name none.
	Profile  string           `yaml:"profile"`
	Default  DefaultSettings  `yaml:"default"`
	DeerFlow DeerFlowSettings `yaml:"deerflow"`
	Forge    ForgeSettings    `yaml:"forge"`
	RAAid    RAAidSettings    `yaml:"ra_aid"`
	Model    ModelSettings    `yaml:"model"`
	// Exclusions and SummaryStyle are those of each profile that has them.
	Exclusions   `yaml:",inline"`
	SummaryStyle `yaml:",inline"`

	// MediaTokens is the flat cost of an image, an audio part or a file.
	MediaTokens int `yaml:"-"`
	// MinGainFraction of the tokens before is the least that a compaction must
	// free; the caller's force overrides it.
	MinGainFraction float64 `yaml:"-"`
	// CoolDownFraction of the size after the last compaction must be added before
	// the next may run.
	CoolDownFraction float64 `yaml:"-"`
	// SummaryTokens bounds the whole summary message in profiles that aim at no
	// size.
	SummaryTokens int `yaml:"-"`
	// Redact keeps secrets (keys, tokens, passwords) out of summaries, previews
	// and requests to the model. (Who keeps originals sees to those.)
	Redact bool `yaml:"-"`
	// RememberFor is how long the answer to a request is kept for its repeats.
	RememberFor time.Duration `yaml:"-"`
	// KeepOriginals is how long originals are kept after the last compaction that
	// used them; 0 keeps them for ever. A store of its own heeds it by itself.
	KeepOriginals time.Duration `yaml:"keep_originals"`
}

// ModelSettings bound the use of a model.
type ModelSettings struct {
	// PromptTokens bounds one request; what does not fit goes into further ones.
	PromptTokens int `yaml:"-"`
	// AnswerTokens bounds one answer.
	AnswerTokens int `yaml:"-"`
	// Parallel is how many requests of one run may be under way.
	Parallel int           `yaml:"-"`
	Timeout  time.Duration `yaml:"-"`
	// OnFailure is "extract" (the deterministic summary stands in) or "keep" (the
	// conversation is returned unchanged).
	OnFailure string `yaml:"on_failure"`
	// BreakerFailures in a row stop the use of models for BreakerPause.
	BreakerFailures int           `yaml:"-"`
	BreakerPause    time.Duration `yaml:"-"`
	// HourlyTokens caps what one conversation may spend in an hour, prompts and
	// answers; 0 means no cap.
	HourlyTokens int `yaml:"hourly_tokens"`
}

// UnmarshalYAML reads a section over what nobody has had a reason to change. A request
// can lay any setting of its profile over it; what is fixed here is what the profiles'
// own programs start from, and bounds that a small model bears.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.MediaTokens, c.MinGainFraction, c.CoolDownFraction, c.SummaryTokens = 765, 0.1, 0.1, 2000
	c.Redact, c.RememberFor = true, 10*time.Minute
	m := &c.Model
	m.PromptTokens, m.AnswerTokens, m.Parallel, m.Timeout = 24_000, 800, 8, time.Minute
	m.BreakerFailures, m.BreakerPause = 5, 2*time.Minute
	c.Default.TailShare, c.Default.PreviewTokens = 0.1, 150
	c.DeerFlow.Enabled, c.RAAid.EnableCondensation = true, true
	c.RAAid.MaxTokensPerSummary, c.RAAid.SummaryBufferRatio, c.RAAid.HybridLoss = 500, 0.2, 0.1
	err := unmarshal((*settings)(c))
	c.Default.Exclusions, c.Forge.Exclusions = c.Exclusions, c.Exclusions
	c.Default.SummaryStyle, c.DeerFlow.SummaryStyle, c.Forge.SummaryStyle, c.RAAid.SummaryStyle = c.SummaryStyle, c.SummaryStyle, c.SummaryStyle, c.SummaryStyle
	return err
}

// Validate checks c; messages name the key.
func (c Config) Validate() error {
	for _, check := range []func() error{c.Default.Validate, c.DeerFlow.Validate, c.Forge.Validate, c.RAAid.Validate, c.Model.Validate} {
		if err := check(); err != nil {
			return err
		}
	}
	switch {
	case !knownProfile(c.Profile):
		return memoryd.Errorf(memoryd.Invalid, "profile must be default, deerflow, forge or ra_aid")
	case c.KeepOriginals < 0:
		return memoryd.Errorf(memoryd.Invalid, "keep_originals must not be negative")
	}
	return nil
}

// Validate checks m; messages name the key.
func (m ModelSettings) Validate() error {
	switch {
	case m.OnFailure != "extract" && m.OnFailure != "keep":
		return memoryd.Errorf(memoryd.Invalid, "model.on_failure must be extract or keep")
	case m.HourlyTokens < 0:
		return memoryd.Errorf(memoryd.Invalid, "model.hourly_tokens must not be negative")
	}
	return nil
}

func knownProfile(name string) bool {
	return name == "default" || name == "deerflow" || name == "forge" || name == "ra_aid"
}
