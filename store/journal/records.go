package journal

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// Records are the remote store's alone: they are compared and replaced, and what
// one process knew of them would soon be wrong. While it is away all of these
// methods fail as unavailable.

// PutRecord implements store.Records.
func (s *backend) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	return firmly(ctx, s, func(ctx context.Context) (int64, error) { return s.remote.PutRecord(ctx, r) })
}

// PutRecords implements store.Records.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	return s.firmlyDone(ctx, func(ctx context.Context) error { return s.remote.PutRecords(ctx, rs) })
}

// Record implements store.Records. The record of a tool or workspace whose
// deletion waits is not found.
func (s *backend) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	if s.q.waitingFor(key.ToolRef).gone {
		return store.Record{}, memoryd.Errorf(memoryd.NotFound, "there is no such record")
	}
	r, ok, err := ask(ctx, s, func(ctx context.Context) (store.Record, error) { return s.remote.Record(ctx, key) })
	if err == nil && !ok {
		err = s.unavailable()
	}
	return r, err
}

// ListRecords implements store.Records, likewise.
func (s *backend) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	if s.q.waitingFor(from.ToolRef).gone {
		return nil, nil
	}
	rs, ok, err := ask(ctx, s, func(ctx context.Context) ([]store.Record, error) {
		return s.remote.ListRecords(ctx, from, limit)
	})
	if err == nil && !ok {
		err = s.unavailable()
	}
	return rs, err
}

// RecordsSize implements store.Records, likewise.
func (s *backend) RecordsSize(ctx context.Context, of store.RecordKey) (store.Size, error) {
	if s.q.waitingFor(of.ToolRef).gone {
		return store.Size{}, nil
	}
	size, ok, err := ask(ctx, s, func(ctx context.Context) (store.Size, error) { return s.remote.RecordsSize(ctx, of) })
	if err == nil && !ok {
		err = s.unavailable()
	}
	return size, err
}

// DeleteRecord implements store.Records.
func (s *backend) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	return s.firmlyDone(ctx, func(ctx context.Context) error { return s.remote.DeleteRecord(ctx, key) })
}

// ExpireRecords implements store.Records.
func (s *backend) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return firmly(ctx, s, func(ctx context.Context) (int, error) { return s.remote.ExpireRecords(ctx, now, limit) })
}

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
			s.log.WarnContext(ctx, "a correction is not in the local copy", "err", err)
		}
		return before, nil
	})
}

// DeleteCalls implements store.Calls: at both stores, the remote one first. Journals of
// other processes keep what they accepted, and would bring it back: it has to be said
// to each of them.
func (s *backend) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	return firmly(ctx, s, func(ctx context.Context) (int, error) {
		unlock := s.order.lock([]memoryd.ToolRef{ref})
		defer unlock()
		if err := s.barrier(ctx); err != nil {
			return 0, err
		}
		n, err := s.remote.DeleteCalls(ctx, ref, keys)
		if err != nil {
			return n, err
		}
		_, err = s.local.DeleteCalls(context.WithoutCancel(ctx), ref, keys)
		return n, err
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
