package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"memoryd/llm"
	"memoryd/ops"
)

// validate checks what types cannot say.
func validate(c *Config) []Problem {
	var problems []Problem
	check := func(section string, err error) {
		if several, ok := err.(interface{ Unwrap() []error }); ok {
			for _, err := range several.Unwrap() {
				problems = append(problems, problemOf(section, err))
			}
		} else if err != nil {
			problems = append(problems, problemOf(section, err))
		}
	}
	check("http", c.HTTP.Validate())
	check("store", c.Store.validate())
	for _, name := range slices.Sorted(maps.Keys(c.LLM)) {
		check("llm."+name, c.LLM[name].Validate())
	}
	if err := samePrices(c.LLM); err != nil {
		check("llm", err)
	}
	if c.Evaluate.Wait > maxWait {
		check("evaluate", fmt.Errorf("wait: must be at most %s", maxWait))
	}
	check("revisions", c.Revisions.Validate())
	check("compact", c.Compact.Validate())
	check("trace", c.Trace.Validate())
	return append(problems, validateOps(c)...)
}

// problemOf takes an error whose text starts with the setting's name apart.
func problemOf(section string, err error) Problem {
	key, msg, ok := strings.Cut(err.Error(), ": ")
	if !ok || strings.ContainsAny(key, " \t") {
		return Problem{Key: section, Msg: err.Error()}
	}
	return Problem{Key: section + "." + key, Msg: msg}
}

// samePrices refuses two prices of one model: what is asked is told by its name.
func samePrices(entries map[string]llm.Config) error {
	first := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if e.PricePrompt == 0 && e.PriceCompletion == 0 {
			continue
		}
		other, again := first[e.ModelName]
		if o := entries[other]; again && (o.PricePrompt != e.PricePrompt || o.PriceCompletion != e.PriceCompletion) {
			return fmt.Errorf("%s.price_prompt: the entry %q has other prices for the model %s", name, other, e.ModelName)
		}
		first[e.ModelName] = name
	}
	return nil
}

func (s Store) validate() error {
	switch s.Backend {
	case BackendSQLite:
		if err := s.SQLite.Validate(); err != nil {
			return fmt.Errorf("sqlite.%w", err)
		}
	case BackendQdrant:
		if err := s.Qdrant.Validate(); err != nil {
			return fmt.Errorf("qdrant.%w", err)
		}
	}
	return nil
}

// validateOps checks the op section and the flow section.
func validateOps(c *Config) []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Op)) {
		if _, ok := c.LLM[c.Op[name].LLM]; c.Op[name].LLM != "" && !ok {
			problems = append(problems, Problem{Key: "op." + name + ".llm", Msg: fmt.Sprintf("the llm section has no %q", c.Op[name].LLM)})
		}
	}
	var faults []ops.Problem
	c.Plan, faults = ops.NewPlan(c.Flow, c.specs())
	for _, f := range faults {
		problems = append(problems, Problem{Key: f.Keys[0], others: f.Keys[1:], Msg: f.Msg})
	}
	return problems
}
