package constraints

import (
	"math/rand/v2"
	"strings"
	"testing"

	"memoryd/internal/phrases"
)

// A text that a pattern matches has to hold what the pattern is said to need, or the
// grammar overlooks it.
func TestAPatternNeedsNothingThatItsMatchesLack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for line := range strings.Lines(cases) {
		_, both, _ := strings.Cut(line, ": ")
		for text := range strings.SplitSeq(both, " | ") {
			texts = append(texts, text, strings.ToUpper(text))
			words := strings.Fields(text)
			random.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
			texts = append(texts, strings.Join(words, " "))
		}
	}
	matched, spared := 0, 0
	for _, text := range texts {
		if !phrases.IsASCII(text) {
			continue
		}
		lower := strings.ToLower(text)
		var grams phrases.Grams
		grams.Note(lower)
		for i := range catalogue {
			g := &catalogue[i]
			held := g.need.HeldBy(lower, &grams)
			if !held {
				spared++
			}
			if g.re.MatchString(text) {
				matched++
				if !held {
					t.Errorf("%s matches %q, which lacks what it needs", g.name, text)
				}
			}
		}
	}
	if matched < len(catalogue) || spared < 10*matched {
		t.Errorf("%d matches, %d spared: the needs say nothing", matched, spared)
	}
}
