package textsafe

import (
	"slices"
	"strings"
	"testing"

	"memoryd/internal/phrases"

	"pgregory.net/rapid"
)

// A text that a family matches has to hold what the family is said to need, or the net
// lets it through unseen.
func TestAFamilyNeedsNothingThatItsMatchesLack(t *testing.T) {
	t.Parallel()
	const ordinary = "an ordinary line, which nobody steers with"
	for _, p := range slices.Concat(steering, ordering) {
		t.Run(p.name, func(t *testing.T) {
			var grams phrases.Grams
			grams.Note(ordinary)
			if p.need.HeldBy(ordinary, &grams) {
				t.Fatal("the need says nothing: the family is tried on every line")
			}
			// Without its word boundaries a pattern can be turned around.
			like := rapid.StringMatching(strings.ReplaceAll(p.re.String(), `\b`, ``))
			matched := 0
			for seed := range 300 {
				text := []string{"", " ", "x "}[seed%3] + like.Example(seed)
				if !p.re.MatchString(text) {
					continue
				}
				matched++
				var grams phrases.Grams
				grams.Note(text)
				if !p.need.HeldBy(text, &grams) {
					t.Errorf("matches %q, which lacks what it needs", text)
				}
			}
			if matched < 10 {
				t.Errorf("of 300 drawn texts it matches %d", matched)
			}
		})
	}
}
