package journal

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// Settle implements store.Verdicts: at once in the local copy, and at the remote
// store in its turn. While that is away a verdict counts as written if the local
// copy took it, or does not keep the call; then it is written later, if the call
// is still pending.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	es, outs, err := s.accept(ctx, &op{Kind: opSettle, Verdicts: verdicts})
	if err != nil {
		return nil, err
	}
	s.await(ctx, es)
	if said := s.q.said(es[0]); said != nil {
		return said.settled, nil
	}
	return outs[0].settled, nil
}

// Override implements store.Verdicts. The remote store has the say; while it is
// away this fails as unavailable.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	return firmly(ctx, s, func(ctx context.Context) (memoryd.Call, error) {
		unlock := s.order.lock([]memoryd.ToolRef{v.ToolRef})
		defer unlock()
		if err := s.barrier(ctx); err != nil {
			return memoryd.Call{}, err
		}
		before, err := s.remote.Override(ctx, v)
		if err != nil {
			return before, err
		}
		_, err = s.local.Override(context.WithoutCancel(ctx), v)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			s.log.Warn("a correction is not in the local copy", "err", err)
		}
		return before, nil
	})
}

// Claim implements store.Verdicts: from the remote store, after all that was
// accepted before. While it is away, what the local copy has; its leases and the
// remote store's do not know of each other.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	if !s.away.Load() {
		if err := s.barrier(ctx); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	calls, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Call, error) {
		return s.remote.Claim(ctx, now, lease, limit)
	})
	if ok || err != nil {
		return calls, err
	}
	return s.local.Claim(ctx, now, lease, limit)
}

// CachedVerdict implements store.Verdicts.
func (s *backend) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	if !s.q.caching(key) {
		e, ok, err := ask(ctx, s, func(ctx context.Context) (memoryd.Evaluation, error) {
			return s.remote.CachedVerdict(ctx, key)
		})
		if ok || err != nil {
			return e, err
		}
	}
	return s.local.CachedVerdict(ctx, key)
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	es, _, err := s.accept(ctx, &op{Kind: opCache, Key: key, Evaluation: e})
	if err == nil {
		s.await(ctx, es)
	}
	return err
}
