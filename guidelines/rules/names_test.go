package rules

import (
	"slices"
	"testing"
)

// A rule is stored by the name of its condition.
func TestEachConditionHasANameOfItsOwn(t *testing.T) {
	if len(conditions) != len(whatNames) {
		t.Errorf("%d conditions, %d names", len(conditions), len(whatNames))
	}
	for w, name := range whatNames {
		if name == "" || slices.Index(whatNames[:], name) != w {
			t.Errorf("condition %d is named %q", w, name)
		}
		if conditions[w] == nil && what(w) != says {
			t.Errorf("nothing says when a call meets %q", name)
		}
	}
}
