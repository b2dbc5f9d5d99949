package compact

import (
	"cmp"
	"math"

	"memoryd"
)

// DefaultSettings are the settings of the profile "default".
type DefaultSettings struct {
	Exclusions   `yaml:",inline"`
	SummaryStyle `yaml:",inline"`
	// TriggerFraction of max_input_tokens starts a compaction; TargetFraction is
	// what it aims at. 0 < target < trigger <= 1.
	TriggerFraction float64 `yaml:"trigger_fraction" json:"trigger_fraction"`
	TargetFraction  float64 `yaml:"target_fraction" json:"target_fraction"`
	// TailShare of the room that system messages, pins and the current request
	// leave goes to the newest messages, verbatim.
	TailShare float64 `yaml:"tail_share" json:"tail_share"`
	// PreviewTokens is the size of the preview that replaces an old tool output;
	// an output of less than twice that is left alone.
	PreviewTokens int `yaml:"preview_tokens" json:"preview_tokens"`
	// ExcerptRequest allows to cut the current request when it alone takes more
	// than half of the room. Off, the request is always verbatim.
	ExcerptRequest bool `yaml:"excerpt_request" json:"excerpt_request"`
}

// Exclusions name the tool calls that are never touched. They keep their place
// and bytes, and neither count nor age.
type Exclusions struct {
	// ExcludedTools is the whole list. Not set: task_completion, ask_question,
	// converse. An empty list: none.
	ExcludedTools *[]string `yaml:"excluded_tools" json:"excluded_tools"`
	// AlsoExcludedTools are added to the list.
	AlsoExcludedTools []string `yaml:"also_excluded_tools" json:"also_excluded_tools"`
	// KeepBelowTokens leaves groups alone that are smaller than this; 0 leaves
	// none.
	KeepBelowTokens int `yaml:"keep_below_tokens" json:"keep_below_tokens"`
}

// SummaryStyle says how the summary stands among the messages.
type SummaryStyle struct {
	// SummaryRole is whose message the summary is, where that keeps the speakers in
	// turn: "user" or "assistant"; "join" makes it a part of the first message of the
	// user, unless that is the current request. "" is "user".
	SummaryRole string `yaml:"summary_role" json:"summary_role"`
}

func (s SummaryStyle) validate(profile string) error {
	switch s.SummaryRole {
	case "", "user", "assistant", "join":
		return nil
	}
	return memoryd.Errorf(memoryd.Invalid, "%s.summary_role must be user, assistant or join", profile)
}

// names gives the list in force.
func (e Exclusions) names() map[string]bool {
	m := map[string]bool{}
	if e.ExcludedTools == nil {
		m["task_completion"], m["ask_question"], m["converse"] = true, true, true
	} else {
		for _, t := range *e.ExcludedTools {
			m[t] = true
		}
	}
	for _, t := range e.AlsoExcludedTools {
		m[t] = true
	}
	return m
}

// ForgeSettings are the settings of the profile "forge" (ADR 15 and 18).
type ForgeSettings struct {
	Exclusions   `yaml:",inline"`
	SummaryStyle `yaml:",inline"`
	// MessagesOldThreshold is the age from which a group of tool calls is in the
	// buffer; a group is as old as its newest message.
	MessagesOldThreshold int `yaml:"messages_old_threshold" json:"messages_old_threshold"`
	// MinToolCallsToSummarize is how many calls in the buffer start a run. Calls
	// count, results do not.
	MinToolCallsToSummarize int `yaml:"min_tool_calls_to_summarize" json:"min_tool_calls_to_summarize"`
	// MaxToolCallDistance is the age of a call that starts a run in any case.
	MaxToolCallDistance int `yaml:"max_tool_call_distance" json:"max_tool_call_distance"`
}

// RAAidSettings are the settings of the profile "ra_aid".
type RAAidSettings struct {
	SummaryStyle `yaml:",inline"`
	// EnableCondensation switches the model off when false: old messages are
	// trimmed, their facts kept.
	EnableCondensation bool `yaml:"enable_condensation" json:"enable_condensation"`
	// MaxTokens is the limit when the request names none.
	MaxTokens           int     `yaml:"max_tokens" json:"max_tokens"`
	NumMessagesToKeep   int     `yaml:"num_messages_to_keep" json:"num_messages_to_keep"`
	MaxTokensPerSummary int     `yaml:"max_tokens_per_summary" json:"max_tokens_per_summary"`
	SummaryBufferRatio  float64 `yaml:"summary_buffer_ratio" json:"summary_buffer_ratio"`
	// HybridLoss is the share of the conversation that may be trimmed without
	// asking a model.
	HybridLoss float64 `yaml:"hybrid_loss" json:"hybrid_loss"`
	// CondenserModel may carry a provider prefix ("provider/model"). It picks
	// among the configured models; "" takes them in order.
	CondenserModel string `yaml:"condenser_model" json:"condenser_model"`
}

// Validate checks s; messages name the key.
func (s DefaultSettings) Validate() error {
	switch {
	case !within(s.TriggerFraction, 1):
		return memoryd.Errorf(memoryd.Invalid, "default.trigger_fraction must be above 0 and at most 1")
	case !within(s.TargetFraction, s.TriggerFraction):
		return memoryd.Errorf(memoryd.Invalid, "default.target_fraction must be above 0 and at most trigger_fraction")
	case s.TailShare < 0 || s.TailShare >= 1 || math.IsNaN(s.TailShare):
		return memoryd.Errorf(memoryd.Invalid, "default.tail_share must be at least 0 and below 1")
	case s.PreviewTokens < 40:
		return memoryd.Errorf(memoryd.Invalid, "default.preview_tokens must be at least 40")
	}
	return cmp.Or(s.Exclusions.validate("default"), s.SummaryStyle.validate("default"))
}

func (e Exclusions) validate(profile string) error {
	if e.KeepBelowTokens < 0 {
		return memoryd.Errorf(memoryd.Invalid, "%s.keep_below_tokens must not be negative", profile)
	}
	return nil
}

// Validate checks s; messages name the key.
func (s ForgeSettings) Validate() error {
	for key, v := range map[string]int{
		"messages_old_threshold": s.MessagesOldThreshold, "min_tool_calls_to_summarize": s.MinToolCallsToSummarize,
		"max_tool_call_distance": s.MaxToolCallDistance,
	} {
		if v <= 0 {
			return memoryd.Errorf(memoryd.Invalid, "forge.%s must be above 0", key)
		}
	}
	return cmp.Or(s.Exclusions.validate("forge"), s.SummaryStyle.validate("forge"))
}

// Validate checks s; messages name the key.
func (s RAAidSettings) Validate() error {
	switch {
	case s.MaxTokens <= 0:
		return memoryd.Errorf(memoryd.Invalid, "ra_aid.max_tokens must be above 0")
	case s.NumMessagesToKeep < 0:
		return memoryd.Errorf(memoryd.Invalid, "ra_aid.num_messages_to_keep must not be negative")
	case s.MaxTokensPerSummary <= 0:
		return memoryd.Errorf(memoryd.Invalid, "ra_aid.max_tokens_per_summary must be above 0")
	case !within(s.SummaryBufferRatio, 1):
		return memoryd.Errorf(memoryd.Invalid, "ra_aid.summary_buffer_ratio must be above 0 and at most 1")
	case s.HybridLoss < 0 || s.HybridLoss > 1 || math.IsNaN(s.HybridLoss):
		return memoryd.Errorf(memoryd.Invalid, "ra_aid.hybrid_loss must be between 0 and 1")
	}
	return s.validate("ra_aid")
}

// within reports 0 < v <= high; it is false for NaN.
func within(v, high float64) bool { return v > 0 && v <= high }
