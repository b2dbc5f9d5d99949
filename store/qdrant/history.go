package qdrant

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// History implements store.Calls: one look over the history, then the bodies by
// id, as many at a time as fit a reply.
func (s *Store) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if err := store.CheckLimit(limit); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	kept, err := s.look(ctx, t.life, limit)
	if err != nil {
		return nil, err
	}
	slices.Reverse(kept)
	return s.bodies(ctx, kept)
}

// bodies reads calls whole, in the order of their narrow points. One that was let
// go since is left out.
func (s *Store) bodies(ctx context.Context, narrow []point) ([]memoryd.Call, error) {
	out := make([]memoryd.Call, 0, len(narrow))
	for len(narrow) > 0 {
		n := s.replySize(narrow)
		ids := make([]string, n)
		for i := range n {
			ids[i] = narrow[i].id
		}
		narrow = narrow[n:]
		whole, err := s.getMap(ctx, s.calls, ids, qd.NewWithPayload(true))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			p := whole[id]
			if !p.has(fieldKept) {
				continue
			}
			c, err := decodeCall(p)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// replySize is how many calls fit one reply: half of the largest, for texts that
// are not UTF-8 grow by a third.
func (s *Store) replySize(narrow []point) int {
	size := int64(0)
	for i, p := range narrow {
		size += p.int(fieldSize) + 4096
		if i > 0 && (size > int64(s.cfg.MaxReplyBytes)/2 || i >= getBatch) {
			return i
		}
	}
	return len(narrow)
}

// Samples implements store.Calls.
func (s *Store) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	kept, err := s.look(ctx, t.life, 0)
	if err != nil {
		return nil, err
	}
	out := make([]memoryd.Sample, len(kept))
	for i, p := range kept {
		if out[len(kept)-1-i], err = decodeSample(p.payload); err != nil {
			return nil, err
		}
	}
	return out, nil
}
