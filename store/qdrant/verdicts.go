package qdrant

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// Settle implements store.Verdicts. Each verdict is written on the condition that its call is
// pending, with a mark of its writer; a read shows whose marks are there.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	out := make([]bool, len(verdicts))
	kept, err := s.keptCalls(ctx, verdicts)
	if err != nil {
		return nil, err
	}
	left := make([]int, 0, len(verdicts))
	for i := range verdicts {
		if _, ok := kept[verdicts[i].ToolRef][callID(verdicts[i].Workspace, verdicts[i].Key)]; ok {
			left = append(left, i)
		}
	}
	for len(left) > 0 { // two verdicts on one call follow each other
		if left, err = s.settleRound(ctx, verdicts, kept, left, out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keptCalls gives all calls that the verdicts' tools keep, by tool and id.
func (s *backend) keptCalls(ctx context.Context, verdicts []store.Verdict) (map[memoryd.ToolRef]map[string]narrow, error) {
	out := map[memoryd.ToolRef]map[string]narrow{}
	for i := range verdicts {
		ref := verdicts[i].ToolRef
		if out[ref] != nil {
			continue
		}
		kept, err := s.historyOf(ctx, ref)
		if err != nil {
			return nil, err
		}
		out[ref] = byID(kept)
	}
	return out, nil
}

// settleRound writes the first verdict on each call, fills in out and gives the
// verdicts that are left.
func (s *backend) settleRound(ctx context.Context, verdicts []store.Verdict, kept map[memoryd.ToolRef]map[string]narrow, which []int,
	out []bool,
) (later []int, err error) {
	const batch = 256
	nonce := newNonce()
	byID := map[string]int{}
	var ops []*qd.PointsUpdateOperation
	first := s.clock.next(len(which))
	for n, i := range which {
		v := &verdicts[i]
		id := callID(v.Workspace, v.Key)
		if _, twice := byID[id]; twice || len(byID) >= batch {
			later = append(later, i)
			continue
		}
		byID[id] = i
		ops = append(ops, settleOp(id, nonce, kept[v.ToolRef][id].verdicts+1, first+int64(n)*leases, &v.Evaluation))
	}
	err = update(ctx, s, "settle", s.updateBatch, &qd.UpdateBatchPoints{
		CollectionName: s.calls, Wait: new(true), Operations: ops, Ordering: s.compareOrder(),
	})
	if err != nil {
		return nil, err
	}
	found, err := s.getMap(ctx, s.calls, keysOf(byID), include(fieldWriter))
	if err != nil {
		return nil, err
	}
	for id, i := range byID {
		out[i] = found[id].word(fieldWriter) == nonce
	}
	return later, nil
}

// updateBatch makes several writes and gives the result that says least good.
func (s *backend) updateBatch(ctx context.Context, request *qd.UpdateBatchPoints) (*qd.UpdateResult, error) {
	results, err := s.client.UpdateBatch(ctx, request)
	out := &qd.UpdateResult{Status: qd.UpdateStatus_Completed}
	for _, r := range results {
		if r.GetStatus() != qd.UpdateStatus_Completed {
			out = r
		}
	}
	return out, err
}

// settleOp writes an evaluation to a call that is pending, as its n-th.
func settleOp(id, nonce string, n, stamp int64, e *memoryd.Evaluation) *qd.PointsUpdateOperation {
	if e.State == memoryd.Pending {
		tried := memoryd.PendingEvaluation()
		tried.Attempts, tried.LastError, tried.NotBefore = e.Attempts, e.LastError, e.NotBefore
		e = &tried
	}
	p := encodeEvaluation(e)
	p[fieldWriter] = word(nonce)
	if e.State != memoryd.Pending {
		p[fieldVerdict] = integer(n)
		p[fieldJudged] = integer(stamp)
	}
	pending := all(qd.NewHasID(qd.NewIDUUID(id)), atLeast(fieldPending, 0))
	return qd.NewPointsUpdateSetPayload(&qd.PointsUpdateOperation_SetPayload{
		Payload: p, PointsSelector: qd.NewPointsSelectorFilter(pending),
	})
}

// Override implements store.Verdicts. It writes on the condition that nobody wrote since it
// read, and tries again if somebody did.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	id := callID(v.Workspace, v.Key)
	for range maxAttempts {
		kept, err := s.historyOf(ctx, v.ToolRef)
		if err != nil {
			return memoryd.Call{}, err
		}
		if _, ok := byID(kept)[id]; !ok {
			return memoryd.Call{}, store.UnknownCall()
		}
		old, err := s.one(ctx, s.calls, id, whole())
		if err != nil {
			return memoryd.Call{}, err
		}
		if !old.has(fieldKept) {
			return memoryd.Call{}, store.UnknownCall()
		}
		was, err := decodeCall(old)
		if err != nil {
			return memoryd.Call{}, err
		}
		if won, err := s.replaceVerdict(ctx, id, &was, old, &v); won || err != nil {
			return was, err
		}
	}
	return memoryd.Call{}, memoryd.Errorf(memoryd.Unavailable, "the call is judged too often")
}

// replaceVerdict writes an evaluation, and an amendment, if those of old are there
// still.
func (s *backend) replaceVerdict(ctx context.Context, id string, was *memoryd.Call, old payload, v *store.Verdict) (bool, error) {
	nonce := newNonce()
	p := encodeEvaluation(&v.Evaluation)
	if a := v.Amendment; a != nil {
		now := *was
		a.Apply(&now)
		p[fieldSize] = encodeCall(&now)[fieldSize]
		p[fieldOK], p[fieldSeconds], p[fieldHash] = flag(a.Success), decimal(a.TimeCost), text(a.Hash)
		p[fieldMeta], p[fieldInput], p[fieldOutput] = text(string(a.Metadata)), text(string(a.Input)), text(a.Output)
	}
	p[fieldWriter] = word(nonce)
	p[fieldVerdict] = integer(old.int(fieldVerdict) + 1)
	p[fieldJudged] = integer(s.clock.next(1))
	unchanged := qd.NewIsEmpty(fieldWriter)
	if old.has(fieldWriter) {
		unchanged = is(fieldWriter, old.word(fieldWriter))
	}
	err := s.set(ctx, s.calls, s.compareOrder(), all(qd.NewHasID(qd.NewIDUUID(id)), unchanged), p)
	if err != nil {
		return false, err
	}
	now, err := s.one(ctx, s.calls, id, include(fieldWriter))
	return now.word(fieldWriter) == nonce, err
}

// Claim implements store.Verdicts. The lease is on the call itself, so all processes see it,
// and it expires by itself if its holder died.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	var out []memoryd.Call
	stale := map[string]bool{}
	for rounds := 0; len(out) < limit && rounds < maxAttempts; rounds++ {
		found, err := s.scroll(ctx, s.calls, all(between(fieldPending, 0, dueAt(now))), ascending(fieldStamp),
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
	kept := map[string]map[string]narrow{}
	for _, p := range found {
		if stale[p.id] {
			continue
		}
		life := p.word(fieldLife)
		if kept[life] == nil {
			if kept[life], err = s.keptBy(ctx, p.word(fieldOwner), life); err != nil {
				return nil, false, err
			}
		}
		if _, ok := kept[life][p.id]; ok {
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

// keptBy gives the calls that a life keeps, by id. When it has ended, there are none, and
// what it left is removed.
func (s *backend) keptBy(ctx context.Context, toolID, life string) (map[string]narrow, error) {
	var kept []narrow
	ended, err := s.ended(ctx, toolID, life)
	switch {
	case err != nil:
	case ended:
		err = s.removeLife(ctx, life)
	default:
		kept, err = s.historyCalls(ctx, life)
	}
	return byID(kept), err
}

// lease moves the time of the calls that are still free, and gives those that
// this process got, in their order.
func (s *backend) lease(ctx context.Context, free []point, now time.Time, lease time.Duration) ([]memoryd.Call, error) {
	if len(free) == 0 {
		return nil, nil
	}
	ids := idsOf(free)
	nonce := newNonce()
	unclaimed := all(qd.NewHasID(pointIDs(ids)...), between(fieldPending, 0, dueAt(now)))
	err := s.set(ctx, s.calls, s.compareOrder(), unclaimed, payload{
		fieldPending: integer(dueAt(now.Add(lease))), fieldWriter: word(nonce),
	})
	if err != nil {
		return nil, err
	}
	mine, err := s.getMap(ctx, s.calls, ids, include(fieldWriter, fieldSize))
	if err != nil {
		return nil, err
	}
	var got []point
	for _, id := range ids {
		if p := mine[id]; p.word(fieldWriter) == nonce {
			got = append(got, point{id: id, payload: p})
		}
	}
	calls, err := s.bodies(ctx, sizesOf(got), whole())
	for i := range calls {
		calls[i].Evaluation.NotBefore = now.Add(lease)
	}
	return calls, err
}

// fieldCached is the stamp of a cached verdict, in the collection of documents.
const fieldCached = "cached"

// CachedVerdict implements store.Verdicts.
func (s *backend) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	p, err := s.one(ctx, s.docs, verdictID(key), whole())
	if err != nil {
		return memoryd.Evaluation{}, err
	}
	if p == nil {
		return memoryd.Evaluation{}, store.UnknownVerdict()
	}
	r := &reader{payload: p}
	e := decodeEvaluation(r)
	return e, damaged("verdict", r.err)
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	p := encodeEvaluation(&e)
	delete(p, fieldPending)
	p[fieldCached] = integer(s.clock.next(1))
	return s.upsert(ctx, s.docs, []*qd.PointStruct{newPoint(verdictID(key), p)})
}

// shrinkCache removes the oldest verdicts beyond the limit.
func (s *backend) shrinkCache(ctx context.Context) error {
	for {
		n, err := s.count(ctx, s.docs, all(atLeast(fieldCached, 0)))
		over := n - int64(s.cfg.VerdictCache)
		if err != nil || over <= 0 {
			return err
		}
		oldest, err := s.scroll(ctx, s.docs, all(atLeast(fieldCached, 0)), ascending(fieldCached), int(min(over, 1000)))
		if err != nil {
			return err
		}
		if err := s.remove(ctx, s.docs, qd.NewPointsSelectorIDs(pointIDs(idsOf(oldest)))); err != nil {
			return err
		}
	}
}
