package evidence

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"memoryd/internal/textsafe"
)

// Frame is the form of texts that differ: the words that most of them share, in their order, with
// "…" for what stands between and N for a number.
type Frame struct {
	Text string `json:"text"`
	// Calls counts the texts that have it, of Of.
	Calls int `json:"calls"`
	Of    int `json:"of"`
}

// Limits on frames.
const (
	framedTexts = 24   // the newest are compared
	framedCalls = 240  // the newest are held against what they share
	framedHead  = 24   // words at the beginning of each
	framedTail  = 8    // words at its end
	framedBytes = 4096 // of each
	framedShare = 0.75 // of the texts have it
	leastFramed = 5    // texts
	leastShared = 2    // words with more letters than N
	fewOf       = 10   // one in so many texts is few
)

// frameNumber is a number in a word.
var frameNumber = regexp.MustCompile(`\d+(?:\.\d+)?`)

// framed are the words at the beginning of a text and at its end, as frames compare them.
func framed(text string) []string {
	words := strings.Fields(textsafe.Head(text, framedBytes))
	if over := len(words) - framedHead - framedTail; over > 0 {
		words = slices.Delete(words, framedHead, framedHead+over)
	}
	for i, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			words[i] = frameNumber.ReplaceAllString(w, "N")
		}
	}
	return words
}

// frameOf finds the form of different texts, the newest first; nil where they have none. by says who gave
// each.
func frameOf(texts []string, by []uint64, who *parties) *Frame {
	different := map[string]bool{}
	for i := 0; i < len(texts) && len(different) < leastFramed; i++ {
		different[texts[i]] = true
	}
	if len(different) < leastFramed {
		return nil
	}
	var all [][]string
	for _, t := range texts[:min(len(texts), framedTexts)] {
		all = append(all, framed(t))
	}
	shared := sharedWords(slices.Clone(all))
	telling := 0
	for _, w := range shared {
		if strings.ContainsFunc(strings.ReplaceAll(w, "N", ""), unicode.IsLetter) {
			telling++
		}
	}
	if telling < leastShared {
		return nil
	}
	for _, t := range texts[len(all):min(len(texts), framedCalls)] {
		all = append(all, framed(t))
	}
	return fitted(shared, all, by, who)
}

// sharedWords are the words that most of some texts have in common with one of them, a rather short one.
func sharedWords(texts [][]string) (shared []string) {
	slices.SortStableFunc(texts, func(a, b []string) int { return cmp.Compare(len(a), len(b)) })
	seed := texts[len(texts)/4]
	held := make([]int, len(seed)) // how many have each of its words
	for _, words := range texts {
		for _, at := range inBoth(seed, words) {
			held[at]++
		}
	}
	for at, n := range held {
		if float64(n) >= framedShare*float64(len(texts)) {
			shared = append(shared, seed[at])
		}
	}
	return shared
}

// fitted is the form of the texts that have words in their order; nil where one party alone gave them, or
// where they begin with something else: that tells nothing of how to begin.
func fitted(shared []string, all [][]string, by []uint64, who *parties) *Frame {
	f := &Frame{Of: len(all)}
	more := make([]int, len(shared)+1) // texts with others before each word, and after the last
	var backed backers
	for i, words := range all {
		places := placesOf(shared, words)
		if places == nil {
			continue
		}
		f.Calls++
		backed.add(by[i])
		before := -1
		for k, at := range append(places, len(words)) {
			if at > before+1 {
				more[k]++
			}
			before = at
		}
	}
	if float64(f.Calls) < framedShare*float64(f.Of) || who.sole(backed) || fewOf*more[0] > f.Calls {
		return nil
	}
	var parts []string
	for k, n := range more {
		if fewOf*n > f.Calls {
			parts = append(parts, maskAny)
		}
		if k < len(shared) {
			parts = append(parts, shared[k])
		}
	}
	f.Text = strings.Join(parts, " ")
	return f
}

// inBoth are the places in a of a longest common subsequence of a and b.
func inBoth(a, b []string) (places []int) {
	best := make([][]int, len(a)+1) // of the ends of both
	best[len(a)] = make([]int, len(b)+1)
	for i := len(a) - 1; i >= 0; i-- {
		best[i] = make([]int, len(b)+1)
		for j := len(b) - 1; j >= 0; j-- {
			if best[i][j] = max(best[i+1][j], best[i][j+1]); a[i] == b[j] {
				best[i][j] = best[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			places = append(places, i)
			i, j = i+1, j+1
		case best[i+1][j] >= best[i][j+1]:
			i++
		default:
			j++
		}
	}
	return places
}

// placesOf are the places of words in a text that has them in this order; nil where it has not.
func placesOf(shared, words []string) (places []int) {
	at := 0
	for _, w := range shared {
		next := slices.Index(words[at:], w)
		if next < 0 {
			return nil
		}
		places = append(places, at+next)
		at += next + 1
	}
	return places
}
