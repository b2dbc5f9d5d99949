package evaluate

import (
	"slices"
	"strings"

	"memoryd/internal/loosejson"
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
	for i, n := range obj.members() {
		key := strings.ToLower(n.Key)
		if key != "failed_checks" && key != "checks" {
			continue
		}
		for c, v := range (object{obj.doc, i}).members() {
			switch {
			case n.Kind == loosejson.Array && v.Kind == loosejson.String && !v.Cut && key != "checks":
				add(obj.doc.Str(c))
			case n.Kind == loosejson.Object && (v.Val == "0" || v.Val == "false") && v.Kind != loosejson.String:
				add(v.Key)
			}
		}
	}
	return failed
}
