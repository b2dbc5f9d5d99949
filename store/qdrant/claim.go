package qdrant

import (
	"context"
	"time"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// Claim implements store.Verdicts. The lease is on the call itself, so that all
// processes see it, and ends by itself when its holder died.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	var out []memoryd.Call
	stale := map[string]bool{}
	for rounds := 0; len(out) < limit && rounds < maxAttempts; rounds++ {
		found, err := s.scroll(ctx, s.calls, all(between(fieldPending, 0, dueAt(now))), ascending(fieldStamp, nil),
			min(limit-len(out), getBatch)+len(stale), fieldLife, fieldOwner, fieldStamp)
		if err != nil {
			return nil, err
		}
		fresh, gone, err := s.sift(ctx, found, stale)
		if err != nil {
			return nil, err
		}
		fresh = fresh[:min(len(fresh), limit-len(out))]
		claimed, err := s.lease(ctx, fresh, now, lease)
		if err != nil {
			return nil, err
		}
		out = append(out, claimed...)
		if len(fresh) == 0 && !gone {
			break
		}
	}
	return out, nil
}

// sift drops calls that their histories no longer keep, and clears those
// histories; gone says that there were some.
func (s *backend) sift(ctx context.Context, found []point, stale map[string]bool) (fresh []point, gone bool, err error) {
	kept := map[string]map[string]bool{}
	for _, p := range found {
		if stale[p.id] {
			continue
		}
		life := p.word(fieldLife)
		if kept[life] == nil {
			if kept[life], err = s.keptOf(ctx, p.word(fieldOwner), life); err != nil {
				return nil, false, err
			}
		}
		if kept[life][p.id] {
			fresh = append(fresh, p)
			continue
		}
		if err := s.trim(ctx, life); err != nil {
			return nil, false, err
		}
		stale[p.id], gone = true, true
	}
	return fresh, gone, nil
}

// keptOf gives the ids of the calls that a life keeps. When it has ended, there
// are none, and what it left is removed.
func (s *backend) keptOf(ctx context.Context, toolID, life string) (map[string]bool, error) {
	out := map[string]bool{}
	ended, err := s.ended(ctx, toolID, life)
	if err != nil {
		return nil, err
	}
	if ended {
		return out, s.bury(ctx, life)
	}
	narrow, err := s.look(ctx, life, 0)
	for _, p := range narrow {
		out[p.id] = true
	}
	return out, err
}

// lease moves the time of the calls that are still free, and gives those that
// this process got, in their order.
func (s *backend) lease(ctx context.Context, free []point, now time.Time, lease time.Duration) ([]memoryd.Call, error) {
	if len(free) == 0 {
		return nil, nil
	}
	ids := make([]string, len(free))
	for i, p := range free {
		ids[i] = p.id
	}
	nonce := newNonce()
	unclaimed := all(qd.NewHasID(pointIDs(ids)...), between(fieldPending, 0, dueAt(now)))
	err := s.set(ctx, s.calls, unclaimed, payload{
		fieldPending: integer(dueAt(now.Add(lease))), fieldWriter: word(nonce),
	})
	if err != nil {
		return nil, err
	}
	mine, err := s.getMap(ctx, s.calls, ids, include(fieldWriter, fieldSize))
	if err != nil {
		return nil, err
	}
	var narrow []point
	for _, id := range ids {
		if p := mine[id]; p.word(fieldWriter) == nonce {
			narrow = append(narrow, point{id, p})
		}
	}
	calls, err := s.bodies(ctx, narrow, whole())
	for i := range calls {
		calls[i].Evaluation.NotBefore = now.Add(lease)
	}
	return calls, err
}
