package compact

import (
	"math"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
)

// DefaultSettings are the settings of the profile "default".
type DefaultSettings struct {
	Exclusions `yaml:"-"`
	// TriggerFraction of max_input_tokens starts a compaction; TargetFraction of it is the
	// target. 0 < target < trigger <= 1.
	TriggerFraction float64 `yaml:"trigger_fraction" json:"trigger_fraction"`
	TargetFraction  float64 `yaml:"target_fraction" json:"target_fraction"`
}

// Exclusions name tool calls that are never touched. They keep their place and bytes, and are
// neither counted nor aged.
type Exclusions struct {
	// ExcludedTools is the whole list. If it is not set: task_completion, ask_question,
	// converse. An empty list excludes none.
	ExcludedTools *[]string `yaml:"excluded_tools" json:"excluded_tools"`
}

// excluded gives the list in force.
func (e Exclusions) excluded() map[string]bool {
	m := map[string]bool{}
	if e.ExcludedTools == nil {
		m["task_completion"], m["ask_question"], m["converse"] = true, true, true
	} else {
		for _, t := range *e.ExcludedTools {
			m[t] = true
		}
	}
	return m
}

// ForgeSettings are the settings of the profile "forge" (ADR 15 and 18).
type ForgeSettings struct {
	Exclusions `yaml:"-"`
	// MessagesOldThreshold is the age at which a group of tool calls enters the buffer. A
	// group is as old as its newest message.
	MessagesOldThreshold int `yaml:"messages_old_threshold" json:"messages_old_threshold"`
	// MinToolCallsToSummarize is the number of calls in the buffer that starts a run. Results
	// do not count.
	MinToolCallsToSummarize int `yaml:"min_tool_calls_to_summarize" json:"min_tool_calls_to_summarize"`
	// MaxToolCallDistance is the age of a call that always starts a run.
	MaxToolCallDistance int `yaml:"max_tool_call_distance" json:"max_tool_call_distance"`
}

// RAAidSettings are the settings of the profile "ra_aid".
type RAAidSettings struct {
	// EnableCondensation turns the model off if it is false: old messages are trimmed, and
	// their facts kept.
	EnableCondensation bool `yaml:"-" json:"enable_condensation"`
	// MaxTokens is the limit if the request has none.
	MaxTokens           int     `yaml:"max_tokens" json:"max_tokens"`
	NumMessagesToKeep   int     `yaml:"num_messages_to_keep" json:"num_messages_to_keep"`
	MaxTokensPerSummary int     `yaml:"-" json:"max_tokens_per_summary"`
	SummaryBufferRatio  float64 `yaml:"-" json:"summary_buffer_ratio"`
	// HybridLoss is the share of the conversation that may be trimmed without a model.
	HybridLoss float64 `yaml:"-" json:"hybrid_loss"`
	// CondenserModel is accepted; the op's configured model is used.
	CondenserModel string `yaml:"-" json:"condenser_model"`
}

// Validate returns the first invalid setting.
func (s DefaultSettings) Validate() error {
	switch {
	case !within(s.TriggerFraction, 1):
		return memoryd.Errorf(memoryd.Invalid, "default.trigger_fraction must be above 0 and at most 1")
	case !within(s.TargetFraction, s.TriggerFraction):
		return memoryd.Errorf(memoryd.Invalid, "default.target_fraction must be above 0 and at most trigger_fraction")
	}
	return nil
}

// Validate returns the first invalid setting.
func (s ForgeSettings) Validate() error {
	for key, v := range map[string]int{
		"messages_old_threshold": s.MessagesOldThreshold, "min_tool_calls_to_summarize": s.MinToolCallsToSummarize,
		"max_tool_call_distance": s.MaxToolCallDistance,
	} {
		if v <= 0 {
			return memoryd.Errorf(memoryd.Invalid, "forge.%s must be above 0", key)
		}
	}
	return nil
}

// Validate returns the first invalid setting.
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
	return nil
}

// within reports 0 < v <= high; it is false for NaN.
func within(v, high float64) bool { return v > 0 && v <= high }

// DeerFlowSettings are the settings of the profile "deerflow", with the names of its
// configuration file.
type DeerFlowSettings struct {
	Enabled bool `yaml:"-" json:"enabled"`
	// ModelName is accepted; the op's configured model is used.
	ModelName string   `yaml:"-" json:"model_name"`
	Trigger   Triggers `yaml:"trigger" json:"trigger"`
	Keep      Size     `yaml:"keep" json:"keep"`
	// TrimTokensToSummarize limits the content of one request to the model; null sends
	// everything, in several requests if necessary.
	TrimTokensToSummarize *int `yaml:"trim_tokens_to_summarize" json:"trim_tokens_to_summarize"`
	// SummaryPrompt replaces the built-in instructions to the model.
	SummaryPrompt *string `yaml:"-" json:"summary_prompt"`
}

// Size is an amount of "tokens" or "messages", or a "fraction" of the context size.
type Size struct {
	Type  string  `yaml:"type" json:"type"`
	Value float64 `yaml:"value" json:"value"`
}

// Clause holds if all of its conditions hold.
type Clause []Size

// Triggers fire if one of the clauses holds. In JSON or YAML they are a clause or a list of
// clauses. A clause is {type, value}, or an object whose keys are the types: {"tokens": 4000,
// "messages": 50} requires both.
type Triggers []Clause

// Validate returns the first invalid setting. window is the model's context size; 0 means
// unknown.
func (s DeerFlowSettings) Validate() error {
	if s.Enabled && len(s.Trigger) == 0 {
		return memoryd.Errorf(memoryd.Invalid, "deerflow.trigger is required when enabled")
	}
	for _, c := range s.Trigger {
		if len(c) == 0 {
			return memoryd.Errorf(memoryd.Invalid, "deerflow.trigger must not hold an empty clause")
		}
		for _, size := range c {
			if err := size.validate("deerflow.trigger", false); err != nil {
				return err
			}
		}
	}
	if s.TrimTokensToSummarize != nil && *s.TrimTokensToSummarize <= 0 {
		return memoryd.Errorf(memoryd.Invalid, "deerflow.trim_tokens_to_summarize must be above 0 or null")
	}
	return s.Keep.validate("deerflow.keep", true)
}

func (s Size) validate(key string, zero bool) error {
	low := s.Value > 0 || zero && s.Value == 0
	switch s.Type {
	case "tokens", "messages":
		if !low || s.Value != float64(int(s.Value)) {
			return memoryd.Errorf(memoryd.Invalid, "%s: %s must be a whole number above 0", key, s.Type)
		}
	case "fraction":
		if !low || s.Value > 1 {
			return memoryd.Errorf(memoryd.Invalid, "%s: fraction must be above 0 and at most 1", key)
		}
	default:
		return memoryd.Errorf(memoryd.Invalid, "%s: unknown type %q; use tokens, messages or fraction", key, s.Type)
	}
	return nil
}

// needsWindow reports whether a fraction is used.
func (s DeerFlowSettings) needsWindow() bool {
	fraction := func(s Size) bool { return s.Type == "fraction" }
	return fraction(s.Keep) || slices.ContainsFunc(s.Trigger, func(c Clause) bool { return slices.ContainsFunc(c, fraction) })
}

// UnmarshalYAML accepts what UnmarshalJSON does.
func (t *Triggers) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return t.UnmarshalJSON(raw)
}

// UnmarshalJSON accepts a clause or a list of clauses.
func (t *Triggers) UnmarshalJSON(raw []byte) error {
	*t = nil
	value := jsontext.Value(raw)
	switch value.Kind() {
	case 'n':
		return nil
	case '{':
		raw = append(append([]byte{'['}, raw...), ']')
	}
	var clauses []struct {
		Type     string   `json:"type"`
		Value    *float64 `json:"value"`
		Tokens   *float64 `json:"tokens"`
		Messages *float64 `json:"messages"`
		Fraction *float64 `json:"fraction"`
	}
	if err := json.Unmarshal(raw, &clauses, json.RejectUnknownMembers(true)); err != nil {
		return memoryd.Wrap(memoryd.Invalid, err, "deerflow.trigger: a clause is an object of type and value, or of tokens, messages and fraction")
	}
	for _, in := range clauses {
		c := Clause{}
		for _, size := range []struct {
			kind  string
			value *float64
		}{{in.Type, in.Value}, {"tokens", in.Tokens}, {"messages", in.Messages}, {"fraction", in.Fraction}} {
			if size.value != nil {
				c = append(c, Size{size.kind, *size.value})
			}
		}
		*t = append(*t, c)
	}
	return nil
}

// JoinOverrides moves members of the request that are named like settings of its profile to
// the overrides. Existing overrides win; other members are ignored, like all unknown members.
func JoinOverrides(profile string, overrides, members jsontext.Value) (jsontext.Value, error) {
	if len(members) == 0 {
		return overrides, nil
	}
	own, all := map[string]jsontext.Value{}, map[string]jsontext.Value{}
	if err := json.Unmarshal(members, &all, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "cannot read the request's settings")
	}
	if len(overrides) > 0 && overrides.Kind() != 'n' {
		if err := json.Unmarshal(overrides, &own); err != nil {
			return nil, memoryd.Errorf(memoryd.Invalid, "must be an object")
		}
	}
	settings := map[string]any{"deerflow": DeerFlowSettings{}, "forge": ForgeSettings{}, "ra_aid": RAAidSettings{}}[profile]
	if settings == nil { // no profile, or an unknown one
		settings = DefaultSettings{}
	}
	raw, _ := json.Marshal(settings) // fails for no settings
	names := map[string]jsontext.Value{}
	_ = json.Unmarshal(raw, &names)
	joined := false
	for name, value := range all {
		if names[name] != nil && own[name] == nil {
			own[name], joined = value, true
		}
	}
	if !joined {
		return overrides, nil
	}
	return json.Marshal(own, json.Deterministic(true))
}
