package ops

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"memoryd"
	"memoryd/store"
)

// searchTools finds up to limit tools of a workspace whose name or guideline holds a word of the
// query, best first: rare words and more of them count more. A word is a sequence of letters and
// digits; case does not matter.
func searchTools(ctx context.Context, s store.Tools, workspace, query string, limit int) ([]memoryd.Tool, error) {
	type hit struct {
		memoryd.Tool
		times  []int // how often it holds each word
		weight float64
	}
	wanted := slices.Compact(slices.Sorted(slices.Values(wordsOf(query))))
	var hits []hit
	all, holders := 0, make([]int, len(wanted))
	for t, err := range store.AllTools(ctx, s, workspace) {
		if err != nil {
			return nil, err
		}
		h, holds := hit{Tool: t, times: make([]int, len(wanted))}, false
		for _, word := range wordsOf(t.Tool + "\n" + t.Guideline.Content) {
			if i, is := slices.BinarySearch(wanted, word); is {
				if h.times[i]++; h.times[i] == 1 {
					holders[i]++
				}
				holds = true
			}
		}
		if all++; holds {
			hits = append(hits, h)
		}
	}
	for i := range hits {
		for k, n := range hits[i].times {
			if n > 0 {
				hits[i].weight += (1 + math.Log(float64(n))) * math.Log1p(float64(all)/float64(holders[k]))
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.weight, a.weight) })
	var found []memoryd.Tool
	for _, h := range hits[:min(limit, len(hits))] {
		found = append(found, h.Tool)
	}
	return found, nil
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}
