package qdrant

import (
	"context"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// fieldCached is the stamp of a cached verdict, in the collection of documents.
const fieldCached = "cached"

// cacheSlack is how many verdicts a process caches between two looks at their
// number.
const cacheSlack = 1000

// CachedVerdict implements store.Verdicts.
func (s *backend) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	id := verdictID(key)
	found, err := s.getMap(ctx, s.docs, []string{id}, qd.NewWithPayload(true))
	if err != nil {
		return memoryd.Evaluation{}, err
	}
	p, ok := found[id]
	if !ok {
		return memoryd.Evaluation{}, memoryd.Errorf(memoryd.NotFound, "no verdict is kept under this key")
	}
	r := &reader{payload: p}
	e := decodeEvaluation(r)
	if r.err != nil {
		return e, memoryd.Wrap(memoryd.Internal, r.err, "a stored verdict is damaged")
	}
	return e, nil
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	p := encodeEvaluation(&e)
	delete(p, fieldPending)
	p[fieldCached] = integer(s.clock.next(1))
	if err := s.upsert(ctx, s.docs, []*qd.PointStruct{newPoint(verdictID(key), p)}); err != nil {
		return err
	}
	if s.puts.Add(1)%cacheSlack == 0 {
		if err := s.shrinkCache(ctx); err != nil {
			s.log.Warn("the verdict cache was not cut", "err", err)
		}
	}
	return nil
}

// shrinkCache removes the oldest verdicts beyond the limit.
func (s *backend) shrinkCache(ctx context.Context) error {
	for {
		n, err := s.count(ctx, s.docs, all(atLeast(fieldCached, 0)))
		over := n - int64(s.cfg.VerdictCache)
		if err != nil || over <= 0 {
			return err
		}
		oldest, err := s.scroll(ctx, s.docs, all(atLeast(fieldCached, 0)), ascending(fieldCached, nil), int(min(over, 1000)))
		if err != nil {
			return err
		}
		ids := make([]string, len(oldest))
		for i, p := range oldest {
			ids[i] = p.id
		}
		if err := s.remove(ctx, s.docs, qd.NewPointsSelectorIDs(pointIDs(ids))); err != nil {
			return err
		}
	}
}
