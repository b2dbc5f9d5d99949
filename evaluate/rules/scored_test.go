package rules_test

import "testing"

// A result that says that there was nothing is half a success, one that counts what was
// found is a whole one.
func TestAnEmptyResultIsHalfASuccessInEveryWording(t *testing.T) {
	run(t, map[string]example{
		"advice behind it": {"web_search", q("a"), "No results found for the given query. Please try different keywords.", 0.5, "nothing-found"},
		"plain":            {"web_search", q("a"), "No results found.", 0.5, "nothing-found"},
		"a count":          {"web_search", q("a"), "0 results", 0.5, "nothing-found"},
		"a list":           {"web_search", q("a"), "[]", 0.5, "empty-result"},
		"some":             {"web_search", q("a"), "Found 10 relevant results", 1, "no-trouble"},
		"some, counted":    {"web_search", q("a"), "3 results", 1, "no-trouble"},
	})
}
