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

	// MediaTokens is the flat cost of an image, an audio part or a file.
	MediaTokens int `yaml:"media_tokens"`
	// MinGainFraction of the tokens before is the least that a compaction must
	// free; the caller's force overrides it.
	MinGainFraction float64 `yaml:"min_gain_fraction"`
	// CoolDownFraction of the size after the last compaction must be added before
	// the next may run.
	CoolDownFraction float64 `yaml:"cool_down_fraction"`
	// SummaryTokens bounds the whole summary message in profiles that aim at no
	// size.
	SummaryTokens int `yaml:"summary_tokens"`
	// Redact keeps secrets (keys, tokens, passwords) out of summaries, previews
	// and requests to the model. (Who keeps originals sees to those.)
	Redact bool `yaml:"redact"`
	// RememberFor is how long the answer to a request is kept for its repeats.
	RememberFor time.Duration `yaml:"remember_for"`
	// KeepOriginals is how long originals are kept after the last compaction that
	// used them; 0 keeps them for ever. A store of its own heeds it by itself.
	KeepOriginals time.Duration `yaml:"keep_originals"`
}

// ModelSettings bound the use of a model.
type ModelSettings struct {
	// PromptTokens bounds one request; what does not fit goes into further ones.
	PromptTokens int `yaml:"prompt_tokens"`
	// AnswerTokens bounds one answer.
	AnswerTokens int `yaml:"answer_tokens"`
	// Parallel is how many requests of one run may be under way.
	Parallel int           `yaml:"parallel"`
	Timeout  time.Duration `yaml:"timeout"`
	// OnFailure is "extract" (the deterministic summary stands in) or "keep" (the
	// conversation is returned unchanged).
	OnFailure string `yaml:"on_failure"`
	// BreakerFailures in a row stop the use of models for BreakerPause.
	BreakerFailures int           `yaml:"breaker_failures"`
	BreakerPause    time.Duration `yaml:"breaker_pause"`
	// HourlyTokens caps what one conversation may spend in an hour, prompts and
	// answers; 0 means no cap.
	HourlyTokens int `yaml:"hourly_tokens"`
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
	case c.MediaTokens < 0:
		return memoryd.Errorf(memoryd.Invalid, "media_tokens must not be negative")
	case !(c.MinGainFraction >= 0 && c.MinGainFraction < 1):
		return memoryd.Errorf(memoryd.Invalid, "min_gain_fraction must be at least 0 and below 1")
	case !(c.CoolDownFraction >= 0 && c.CoolDownFraction < 1):
		return memoryd.Errorf(memoryd.Invalid, "cool_down_fraction must be at least 0 and below 1")
	case c.SummaryTokens < 100:
		return memoryd.Errorf(memoryd.Invalid, "summary_tokens must be at least 100")
	case c.RememberFor < 0:
		return memoryd.Errorf(memoryd.Invalid, "remember_for must not be negative")
	case c.KeepOriginals < 0:
		return memoryd.Errorf(memoryd.Invalid, "keep_originals must not be negative")
	}
	return nil
}

// Validate checks m; messages name the key.
func (m ModelSettings) Validate() error {
	switch {
	case m.PromptTokens < 500:
		return memoryd.Errorf(memoryd.Invalid, "model.prompt_tokens must be at least 500")
	case m.AnswerTokens < 50:
		return memoryd.Errorf(memoryd.Invalid, "model.answer_tokens must be at least 50")
	case m.Parallel < 1:
		return memoryd.Errorf(memoryd.Invalid, "model.parallel must be at least 1")
	case m.Timeout <= 0:
		return memoryd.Errorf(memoryd.Invalid, "model.timeout must be above 0")
	case m.OnFailure != "extract" && m.OnFailure != "keep":
		return memoryd.Errorf(memoryd.Invalid, "model.on_failure must be extract or keep")
	case m.BreakerFailures < 1:
		return memoryd.Errorf(memoryd.Invalid, "model.breaker_failures must be at least 1")
	case m.BreakerPause < 0:
		return memoryd.Errorf(memoryd.Invalid, "model.breaker_pause must not be negative")
	case m.HourlyTokens < 0:
		return memoryd.Errorf(memoryd.Invalid, "model.hourly_tokens must not be negative")
	}
	return nil
}

func knownProfile(name string) bool {
	return name == "default" || name == "deerflow" || name == "forge" || name == "ra_aid"
}
