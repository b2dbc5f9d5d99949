package evaluate

import (
	"slices"
	"strings"
)

// checkNames are the ten binary checks of a call, after the judge of "Towards
// Robust Tool Use in Agents via Experience-Driven Adaptive Guidance" (ExpG,
// arXiv 2608.03403): two of the use, four of the input, four of the response. A
// model answers with the names of those that a call fails, which become the
// evaluation's FailedChecks.
func checkNames() []string {
	return []string{
		"tool_needed", "right_tool",
		"required_inputs", "valid_inputs", "input_format", "inputs_fit_context",
		"useful_response", "response_fits_tool", "response_fits_input", "advances_task",
	}
}

// knownChecks reads an answer's failed_checks. Names that are not ours are
// dropped; an object of name and 0 or false, as some models write, counts too.
func knownChecks(obj object) []string {
	var failed []string
	add := func(name string) {
		name = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(checkNames(), name) && !slices.Contains(failed, name) {
			failed = append(failed, name)
		}
	}
	for _, m := range obj {
		if n := strings.ToLower(m.name); n != "failed_checks" && n != "checks" {
			continue
		}
		switch v := m.value.(type) {
		case []any:
			for _, e := range v {
				if s, ok := e.(string); ok && !strings.EqualFold(m.name, "checks") {
					add(s)
				}
			}
		case object:
			for _, c := range v {
				if c.value == number("0") || c.value == word("false") {
					add(c.name)
				}
			}
		}
	}
	return failed
}
