package rules

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"memoryd/internal/phrases"
)

// indexedLists are the lists of lineIndex that a test looks up one by one.
var indexedLists = map[phrases.Marks][]string{
	hasExit: exitPhrases, hasShellComplaint: shellComplaints,
	hasPlainComplaint: shellComplaints[:plainComplaints], hasComplaintWord: trouble,
}

func TestPhraseIndexFindsWhatASearchFinds(t *testing.T) {
	var all []string
	for _, list := range indexedLists {
		all = append(all, list...)
	}
	piece := rapid.OneOf(
		rapid.SampledFrom(all),
		rapid.Map(rapid.SampledFrom(all), strings.ToUpper),
		rapid.Map(rapid.SampledFrom(all), func(p string) string { return p[:len(p)-1] }),
		rapid.SampledFrom([]string{" ", "n", "no", "\u212a", "\u0130", "\xff", "\x00", "é", ": ", "NO "}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
		found := lineIndex.Scan(s)
		low := strings.ToLower(s)
		for m, list := range indexedLists {
			want := false
			for _, p := range list {
				want = want || strings.Contains(low, p)
			}
			if got := found&m != 0; got != want {
				t.Fatalf("%q, list that begins with %q: got %v, want %v", s, list[0], got, want)
			}
		}
	})
}

func TestIndexedPhrasesAreLowerCaseASCII(t *testing.T) {
	lists := [][]string{parseComplaints, harmless}
	for _, list := range indexedLists {
		lists = append(lists, list)
	}
	for i := range causes {
		lists = append(lists, causes[i].words)
	}
	for _, list := range lists {
		for _, p := range list {
			if len(p) < 3 || strings.ContainsFunc(p, func(r rune) bool { return r > unicode.MaxASCII }) || p != strings.ToLower(p) || strings.ContainsFunc(p, unicode.IsControl) {
				t.Errorf("%q cannot be indexed", p)
			}
		}
	}
}

func TestCatalogueNamesEachRuleOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range catalogue() {
		if seen[r.name] || r.name == "" {
			t.Errorf("rule %q is named twice or not described", r.name)
		}
		seen[r.name] = true
	}
}
