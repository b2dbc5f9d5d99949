package records

import (
	"strings"
	"testing"
)

// TestScriptsWithoutSpacesHideNoIdentifier: in "今後はA-17を40未満に" the identifier is a word.
func TestScriptsWithoutSpacesHideNoIdentifier(t *testing.T) {
	var v values
	v.init(0)
	for _, text := range []string{"今後はsekeli-15を1675未満にしてください。", "从现在起sekeli-15必须低于1675。", "From now on sekeli-15 has to stay below 1675."} {
		var got []string
		for _, k := range v.words(text, 0, false) {
			got = append(got, v.all[k].text)
		}
		if strings.Join(got, " ") != "sekeli-15 1675" {
			t.Errorf("%s: %q", text, got)
		}
	}
}
