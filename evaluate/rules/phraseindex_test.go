package rules

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// indexedLists are the lists of lineIndex that a test looks up one by one.
var indexedLists = map[marks][]string{
	hasExit: exitPhrases, hasProtocol: protocolPhrases, hasShellComplaint: shellComplaints,
	hasPlainComplaint: shellComplaints[:plainComplaints], hasRuntime: runtimePhrases, hasSQL: sqlPhrases,
	hasComplaint: complaints, hasDoubt: doubtful, hasComplaintWord: complaintWords, hasNoResult: noResultPhrases,
}

func TestPhraseIndexFindsWhatASearchFinds(t *testing.T) {
	var phrases []string
	for _, list := range indexedLists {
		phrases = append(phrases, list...)
	}
	piece := rapid.OneOf(
		rapid.SampledFrom(phrases),
		rapid.Map(rapid.SampledFrom(phrases), strings.ToUpper),
		rapid.Map(rapid.SampledFrom(phrases), func(p string) string { return p[:len(p)-1] }),
		rapid.SampledFrom([]string{" ", "n", "no", "\u212a", "\u0130", "\xff", "\x00", "é", ": ", "NO "}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"), "")
		found := lineIndex.scan(s)
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
	lists := [][]string{troubleWords, parseComplaints, notRecognized, harmless, traceHeads[:insideHeads], networkPhrases, editPhrases, compilePhrases, rejections, relief, hedges, walls, softComplaints, demands, refusalPhrases, zeroResults, goodAbsences}
	for _, list := range indexedLists {
		lists = append(lists, list)
	}
	for i := range causes {
		lists = append(lists, causes[i].words)
	}
	for _, list := range lists {
		for _, p := range list {
			if len(p) < keyBytes-1 || !isASCII(p) || p != strings.ToLower(p) || strings.ContainsFunc(p, unicode.IsControl) {
				t.Errorf("%q cannot be indexed", p)
			}
		}
	}
}

func TestOnlyTwoCharactersFoldToASCII(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= unicode.MaxRune; r++ {
		if low := unicode.ToLower(r); low < utf8.RuneSelf && !foldsToASCII(string(r)) {
			t.Errorf("%U becomes %q", r, low)
		}
	}
}
