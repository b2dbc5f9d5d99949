package config

import (
	"fmt"
	"maps"
	"net"
	"reflect"
	"slices"
	"strings"
	"time"

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
	if _, _, err := net.SplitHostPort(c.HTTP.Listen); c.HTTP.Listen != "" && err != nil {
		check("http", fmt.Errorf("listen: must be host:port, got %q", c.HTTP.Listen))
	}
	check("log", c.Log.validate())
	check("store", c.Store.validate())
	for _, name := range slices.Sorted(maps.Keys(c.LLM)) {
		check("llm."+name, c.LLM[name].Validate())
	}
	if err := samePrices(c.LLM); err != nil {
		check("llm", err)
	}
	check("evaluate", c.Evaluate.Validate())
	if c.Evaluate.Wait > maxWait {
		check("evaluate", fmt.Errorf("wait: must be at most %s", maxWait))
	}
	check("guidelines", c.Guidelines.Validate())
	check("revisions", c.Revisions.Validate())
	check("compact", c.Compact.Validate())
	check("usage", c.Usage.Validate())
	check("quotas", c.Quotas.Validate())
	check("trace", c.Trace.Validate())
	problems = append(problems, negative(reflect.ValueOf(c).Elem(), "")...)
	return append(problems, validateOps(c)...)
}

// negative finds durations below 0, which no setting takes.
func negative(v reflect.Value, path string) (problems []Problem) {
	switch v.Kind() {
	case reflect.Map:
		for _, name := range v.MapKeys() {
			problems = append(problems, negative(v.MapIndex(name), join(path, name.String()))...)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if strings.Contains(options, "inline") {
				problems = append(problems, negative(v.Field(i), path)...)
			} else if name != "" && name != "-" {
				problems = append(problems, negative(v.Field(i), join(path, name))...)
			}
		}
	case reflect.Int64:
		if v.Type() == reflect.TypeFor[time.Duration]() && v.Int() < 0 {
			problems = append(problems, Problem{Key: path, Msg: fmt.Sprintf("must be 0 or more, got %s", time.Duration(v.Int()))})
		}
	default:
	}
	return problems
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

func (l Log) validate() error {
	if !slices.Contains([]string{"debug", "info", "warn", "error"}, l.Level) {
		return fmt.Errorf("level: must be debug, info, warn or error, got %q", l.Level)
	}
	if l.Format != "text" && l.Format != "json" {
		return fmt.Errorf("format: must be text or json, got %q", l.Format)
	}
	return nil
}

func (s Store) validate() error {
	switch s.Backend {
	case BackendMem:
		return nil
	case BackendSQLite:
		if err := s.SQLite.Validate(); err != nil {
			return fmt.Errorf("sqlite.%w", err)
		}
		return nil
	case BackendQdrant:
		if err := s.Qdrant.Validate(); err != nil {
			return fmt.Errorf("qdrant.%w", err)
		}
		return nil
	}
	return fmt.Errorf("backend: must be %s, %s or %s, got %q", BackendSQLite, BackendQdrant, BackendMem, s.Backend)
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
