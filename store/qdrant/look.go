package qdrant

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// look gives the narrow points of a history, newest first, at most limit of them
// (0: all).
//
// Which calls a history keeps follows from the calls alone: each says how many
// were to be kept when it came, so a call with n newer ones is kept as long as
// none of those, nor it, asks for less. The points of calls that are no longer
// kept are cleared away later (see trim.go); until then readers pass over them
// here. So nobody has to trim in time, and no trim can take one of the newest.
func (s *backend) look(ctx context.Context, life string, limit int) ([]point, error) {
	const firstPage, maxPage = 128, 1024
	var out []point
	seen := map[string]bool{}
	bound := int64(math.MaxInt64)
	if limit > 0 {
		bound = int64(limit)
	}
	var from *int64
	for page := firstPage; ; {
		found, err := s.scroll(ctx, s.calls, all(is(fieldKept, life)), descending(fieldSeq, from), page, narrowFields[:]...)
		if err != nil {
			return nil, err
		}
		before := len(out)
		for _, p := range newestFirst(found) {
			if seen[p.id] {
				continue
			}
			rank := int64(len(out))
			if rank >= bound {
				return out, nil
			}
			bound = min(bound, rank+max(1, p.int(fieldKeep)))
			seen[p.id] = true
			out = append(out, p)
		}
		if len(found) < page || int64(len(out)) >= bound {
			return out, nil
		}
		if len(out) == before {
			page *= 2 // more calls of one number than a page holds
			continue
		}
		page = max(page, min(2*page, maxPage))
		last := out[len(out)-1].int(fieldSeq)
		from = &last
	}
}

// newestFirst orders calls of the same number by id.
func newestFirst(ps []point) []point {
	slices.SortStableFunc(ps, func(a, b point) int {
		return cmp.Or(cmp.Compare(b.int(fieldSeq), a.int(fieldSeq)), cmp.Compare(b.id, a.id))
	})
	return ps
}
