package journal

import (
	"bytes"
	"context"
	"encoding/gob"
	"slices"
	"sync"
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

// guidelineCache keeps, in the local store, the guidelines that the remote store was seen
// to hold, to answer with while it is away.
type guidelineCache struct {
	local store.Store
	mu    sync.Mutex
	known map[memoryd.ToolRef]int64 // revisions that are kept already
}

// maxGuidelines bounds the revisions in memory; beyond they are read again.
const maxGuidelines = 1 << 16

func newGuidelineCache(local store.Store) *guidelineCache {
	return &guidelineCache{local: local, known: map[memoryd.ToolRef]int64{}}
}

func guidelineKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: kindGuideline, ID: "newest"}
}

// saw keeps a guideline if it is another than the one that is kept and the local
// store knows the tool.
func (g *guidelineCache) saw(ctx context.Context, ref memoryd.ToolRef, guideline memoryd.Guideline) error {
	if guideline.Revision == 0 || g.has(ref, guideline.Revision) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	t, err := g.local.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := g.load(ctx, ref)
	if err != nil {
		return err
	}
	if kept.Revision != guideline.Revision || kept.Content != guideline.Content {
		if err := g.store(ctx, ref, guideline, t.Guideline.Revision); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxGuidelines {
		clear(g.known)
	}
	g.known[ref] = guideline.Revision
	return nil
}

// store writes the guideline as it is, and once more as the local tool's own: for
// that is what a local search looks at.
func (g *guidelineCache) store(ctx context.Context, ref memoryd.ToolRef, guideline memoryd.Guideline, localRevision int64) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&guideline); err != nil {
		return err
	}
	_, err := g.local.PutRecord(ctx, store.Record{RecordKey: guidelineKey(ref), Revision: store.AnyRevision, Data: b.Bytes()})
	if err == nil {
		err = g.local.PutGuideline(ctx, ref, guideline, localRevision)
	}
	if memoryd.IsKind(err, memoryd.Conflict) || memoryd.IsKind(err, memoryd.NotFound) {
		return nil // another caller keeps one, or the tool is being deleted
	}
	return err
}

func (g *guidelineCache) has(ref memoryd.ToolRef, revision int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[ref] == revision
}

// load gives what is kept, the zero value if that is nothing.
func (g *guidelineCache) load(ctx context.Context, ref memoryd.ToolRef) (guideline memoryd.Guideline, err error) {
	r, err := g.local.Record(ctx, guidelineKey(ref))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return guideline, nil
	}
	if err != nil {
		return guideline, err
	}
	if err := gob.NewDecoder(bytes.NewReader(r.Data)).Decode(&guideline); err != nil {
		return guideline, memoryd.Wrap(memoryd.Unavailable, err, "a kept guideline is damaged")
	}
	return guideline, nil
}

// forget drops what is known of a deleted tool, or of all tools of a workspace.
func (g *guidelineCache) forget(ref memoryd.ToolRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for known := range g.known {
		if known.Workspace == ref.Workspace && (ref.Tool == "" || known.Tool == ref.Tool) {
			delete(g.known, known)
		}
	}
}

// refill puts the tools of the local copy into a remote store that lost everything, with
// their counters, before what waits is forwarded: that counts for itself. Where another
// process was faster, or all that the copy keeps of a tool waits, its calls come all the
// same, and what its history let go is counted no more: uncounted says how many those are.
func (s *backend) refill(ctx context.Context) (restored int, uncounted int64, err error) {
	for space, err := range store.AllWorkspaces(ctx, s.local) {
		if err != nil {
			return restored, uncounted, err
		}
		for t, err := range store.AllTools(ctx, s.local, space) {
			if err != nil {
				return restored, uncounted, err
			}
			missing, err := s.refillTool(ctx, t.ToolRef)
			if err != nil {
				s.log.WarnContext(ctx, "a tool was not put back whole", "workspace", space, "tool", t.Tool, "uncounted", missing, "err", err)
				uncounted += missing
				continue
			}
			restored++
		}
	}
	return restored, uncounted, nil
}

// refillTool puts back a tool while nothing new is accepted for it.
func (s *backend) refillTool(ctx context.Context, ref memoryd.ToolRef) (missing int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	unlock := s.order.lock([]memoryd.ToolRef{ref})
	defer unlock()
	mine, err := s.localView(ctx, ref)
	if err != nil || !mine.exists {
		return 0, err
	}
	return s.restore(ctx, mine)
}

// restore puts back a tool without what waits for it. When it fails, missing is how many
// calls the copy counts and no longer has.
func (s *backend) restore(ctx context.Context, mine view) (missing int64, err error) {
	w := s.q.waitingFor(mine.tool.ToolRef)
	if w.gone {
		return 0, nil
	}
	t, waits := mine.tool, map[memoryd.CallKey]bool{}
	for _, a := range w.appends {
		for _, c := range a.calls {
			if waits[c.key] || c.certain && !c.local.New {
				continue
			}
			waits[c.key] = true
			t.Lifetime--
			t.Revision--
			if c.local.Repeat {
				t.Duplicates--
			}
		}
	}
	if t.Lifetime <= 0 {
		return 0, nil // nothing of it is older than what waits
	}
	calls := slices.DeleteFunc(mine.calls, func(c memoryd.Call) bool { return waits[c.Key] })
	t.Duplicates = max(0, t.Duplicates)
	return t.Lifetime - int64(len(calls)), s.remote.RestoreTool(ctx, t, calls)
}
