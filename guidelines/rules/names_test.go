package rules

import (
	"slices"
	"testing"
)

// A rule is stored by the name of its condition.
func TestEachConditionHasANameOfItsOwn(t *testing.T) {
	for w, c := range conditions {
		if c.name == "" || slices.IndexFunc(conditions, func(o condition) bool { return o.name == c.name }) != w {
			t.Errorf("condition %d is named %q", w, c.name)
		}
		h := hypothesis{what: what(w), p: "p", set: []string{"a"}}
		if (c.holds == nil || h.line("", []string{"b"}) == "") && what(w) != says {
			t.Errorf("nothing says when a call meets %q, or what to do", c.name)
		}
	}
}
