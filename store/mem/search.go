package mem

import (
	"cmp"
	"context"
	"math"
	"slices"

	"memoryd"
	"memoryd/store"
)

// SearchTools implements store.Tools: the sum over the query's words of
// occurrences, damped by the logarithm, times the inverse document frequency.
func (s *backend) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sp := s.spaces[workspace]
	words := store.Words(query)
	if sp == nil || len(words) == 0 {
		return nil, nil
	}
	counts := make(map[*tool]map[string]int, len(sp.tools))
	holders := map[string]int{}
	for _, t := range sp.tools {
		in := map[string]int{}
		for _, w := range store.Words(t.Tool.Tool + "\n" + t.Guideline.Content) {
			in[w]++
		}
		counts[t] = in
		for w := range in {
			holders[w]++
		}
	}
	type hit struct {
		t      *tool
		weight float64
	}
	var hits []hit
	for t, in := range counts {
		weight := 0.0
		for _, w := range words {
			if n := in[w]; n > 0 {
				weight += (1 + math.Log(float64(n))) * math.Log1p(float64(len(sp.tools))/float64(holders[w]))
			}
		}
		if weight > 0 {
			hits = append(hits, hit{t, weight})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.t.Tool.Tool, b.t.Tool.Tool))
	})
	var out []memoryd.Tool
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.t.describe())
	}
	return out, nil
}
