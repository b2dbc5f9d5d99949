package compact

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"memoryd"
)

// DeerFlowSettings are the settings of the profile "deerflow", as its
// configuration file names them.
type DeerFlowSettings struct {
	SummaryStyle `yaml:",inline"`
	Enabled      bool `yaml:"enabled" json:"enabled"`
	// ModelName picks among the configured models; "" takes them in order.
	ModelName string   `yaml:"model_name" json:"model_name"`
	Trigger   Triggers `yaml:"trigger" json:"trigger"`
	Keep      Size     `yaml:"keep" json:"keep"`
	// TrimTokensToSummarize bounds what one request to the model carries; null
	// sends everything, in several requests when it must be.
	TrimTokensToSummarize *int `yaml:"trim_tokens_to_summarize" json:"trim_tokens_to_summarize"`
	// SummaryPrompt replaces the instructions to the model.
	SummaryPrompt *string `yaml:"summary_prompt" json:"summary_prompt"`
}

// Size is an amount: "tokens", "messages" or "fraction" of the model's window.
type Size struct {
	Type  string  `yaml:"type" json:"type"`
	Value float64 `yaml:"value" json:"value"`
}

// Clause holds when all of its conditions hold.
type Clause []Size

// Triggers fire when one of the clauses holds. As JSON or YAML it is a clause or a
// list of clauses; a clause is {type, value}, or an object whose keys are the
// types: {"tokens": 4000, "messages": 50} needs both.
type Triggers []Clause

// Validate checks s; messages name the key. window is the model's input window,
// 0 when unknown.
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
	return cmp.Or(s.Keep.validate("deerflow.keep", true), s.validate("deerflow"))
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
	if s.Keep.Type == "fraction" {
		return true
	}
	for _, c := range s.Trigger {
		for _, size := range c {
			if size.Type == "fraction" {
				return true
			}
		}
	}
	return false
}

// UnmarshalJSON accepts a clause or a list of clauses.
func (t *Triggers) UnmarshalJSON(raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return t.read(v)
}

// UnmarshalYAML accepts a clause or a list of clauses.
func (t *Triggers) UnmarshalYAML(unmarshal func(any) error) error {
	var v any
	if err := unmarshal(&v); err != nil {
		return err
	}
	return t.read(v)
}

func (t *Triggers) read(v any) error {
	*t = nil
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	for _, item := range list {
		c, err := readClause(item)
		if err != nil {
			return err
		}
		*t = append(*t, c)
	}
	return nil
}

func readClause(item any) (Clause, error) {
	m, ok := item.(map[string]any)
	if !ok {
		return nil, memoryd.Errorf(memoryd.Invalid, "deerflow.trigger: a clause must be an object")
	}
	if kind, ok := m["type"].(string); ok && len(m) == 2 {
		value, ok := numberOf(m["value"])
		if !ok {
			return nil, memoryd.Errorf(memoryd.Invalid, "deerflow.trigger: value must be a number")
		}
		return Clause{{kind, value}}, nil
	}
	c := Clause{}
	known := 0
	for _, kind := range []string{"tokens", "messages", "fraction"} {
		v, ok := m[kind]
		if !ok {
			continue
		}
		known++
		value, ok := numberOf(v)
		if !ok {
			return nil, memoryd.Errorf(memoryd.Invalid, "deerflow.trigger: %s must be a number", kind)
		}
		c = append(c, Size{kind, value})
	}
	if known != len(m) {
		return nil, memoryd.Errorf(memoryd.Invalid, "deerflow.trigger: a clause may hold tokens, messages and fraction only")
	}
	return c, nil
}

func numberOf(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// overlay lays a JSON object over settings; unknown names are errors.
func overlay(settings any, over jsontext.Value) error {
	if len(over) == 0 || over.Kind() == 'n' {
		return nil
	}
	if over.Kind() != '{' {
		return memoryd.Errorf(memoryd.Invalid, "overrides must be an object")
	}
	if err := json.Unmarshal(over, settings, json.RejectUnknownMembers(true)); err != nil {
		return memoryd.Wrap(memoryd.Invalid, err, "overrides: "+err.Error())
	}
	return nil
}
