package qdrant

import (
	"context"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// Settle implements store.Verdicts. Each verdict is written on the condition
// that its call is pending, with a mark of its writer; a read tells whose marks
// are there.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	out := make([]bool, len(verdicts))
	kept, err := s.keptCalls(ctx, verdicts)
	if err != nil {
		return nil, err
	}
	left := make([]int, 0, len(verdicts))
	for i := range verdicts {
		if kept[callID(verdicts[i].Workspace, verdicts[i].Key)] == toolID(verdicts[i].ToolRef) {
			left = append(left, i)
		}
	}
	for len(left) > 0 { // two verdicts on one call follow each other
		var later []int
		if later, err = s.settleRound(ctx, verdicts, left, out); err != nil {
			return nil, err
		}
		left = later
	}
	return out, nil
}

// keptCalls gives the ids of all calls that the verdicts' tools keep, with the
// ids of their tools.
func (s *backend) keptCalls(ctx context.Context, verdicts []store.Verdict) (map[string]string, error) {
	seen := map[memoryd.ToolRef]bool{}
	out := map[string]string{}
	for i := range verdicts {
		ref := verdicts[i].ToolRef
		if seen[ref] {
			continue
		}
		seen[ref] = true
		t, err := s.find(ctx, ref)
		if err != nil {
			return nil, err
		}
		if t == nil {
			continue
		}
		narrow, err := s.look(ctx, t.life, 0)
		if err != nil {
			return nil, err
		}
		for _, p := range narrow {
			out[p.id] = t.id
		}
	}
	return out, nil
}

// settleRound writes the first verdict on each call, fills in out and gives the
// verdicts that are left.
func (s *backend) settleRound(ctx context.Context, verdicts []store.Verdict, which []int, out []bool) (later []int, err error) {
	const batch = 256
	nonce := newNonce()
	byID := map[string]int{}
	var ops []*qd.PointsUpdateOperation
	for _, i := range which {
		id := callID(verdicts[i].Workspace, verdicts[i].Key)
		if _, twice := byID[id]; twice || len(byID) >= batch {
			later = append(later, i)
			continue
		}
		byID[id] = i
		ops = append(ops, s.settleOp(id, nonce, &verdicts[i].Evaluation))
	}
	err = s.update(ctx, "settle", func(ctx context.Context) (*qd.UpdateResult, error) {
		return lastOf(s.client.UpdateBatch(ctx, &qd.UpdateBatchPoints{
			CollectionName: s.calls, Wait: qd.PtrOf(true), Operations: ops, Ordering: s.compareOrder,
		}))
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

// lastOf gives the result that says least good of several.
func lastOf(results []*qd.UpdateResult, err error) (*qd.UpdateResult, error) {
	if err != nil {
		return nil, err
	}
	out := &qd.UpdateResult{Status: qd.UpdateStatus_Completed}
	for _, r := range results {
		if r.GetStatus() != qd.UpdateStatus_Completed {
			out = r
		}
	}
	return out, nil
}

// settleOp writes an evaluation to a call that is pending.
func (s *backend) settleOp(id, nonce string, e *memoryd.Evaluation) *qd.PointsUpdateOperation {
	if e.State == memoryd.Pending {
		tried := memoryd.PendingEvaluation()
		tried.Attempts, tried.LastError, tried.NotBefore = e.Attempts, e.LastError, e.NotBefore
		e = &tried
	}
	p := encodeEvaluation(e)
	p[fieldWriter] = word(nonce)
	if e.State != memoryd.Pending {
		p[fieldVerdict] = integer(1)
		p[fieldJudged] = integer(s.clock.next(1))
	}
	pending := all(qd.NewHasID(qd.NewIDUUID(id)), atLeast(fieldPending, 0))
	return qd.NewPointsUpdateSetPayload(&qd.PointsUpdateOperation_SetPayload{
		Payload: p, PointsSelector: qd.NewPointsSelectorFilter(pending),
	})
}
