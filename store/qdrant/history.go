package qdrant

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// historyOf reads the calls of a tool's history, newest first; none where there is no such tool.
func (s *backend) historyOf(ctx context.Context, ref memoryd.ToolRef) ([]narrow, error) {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	return s.historyCalls(ctx, t.life)
}

// History implements store.Calls: one query over the history, then the bodies by id, as many
// at a time as fit into a reply.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	kept, err := s.historyOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	if limit > 0 {
		kept = kept[:min(len(kept), limit)]
	}
	slices.Reverse(kept)
	return s.bodies(ctx, kept, whole())
}

// Call implements store.Calls.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	kept, err := s.historyOf(ctx, ref)
	if err != nil {
		return memoryd.Call{}, err
	}
	id := callID(ref.Workspace, key)
	calls, err := s.bodies(ctx, slices.DeleteFunc(kept, func(o narrow) bool { return o.id != id }), whole())
	switch {
	case err != nil:
		return memoryd.Call{}, err
	case len(calls) == 0:
		return memoryd.Call{}, store.UnknownCall()
	}
	return calls[0], nil
}

// ListCalls implements store.Calls. For calls before the page it reads only the narrow
// points, which show what the history contains.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	if p.Limit == 0 {
		return nil, nil
	}
	kept, err := s.historyOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	kept = slices.DeleteFunc(kept, func(o narrow) bool { return p.Before > 0 && o.Seq >= p.Before })
	kept = kept[:min(len(kept), p.Limit)]
	with := whole()
	if p.Brief {
		with = brief()
	} else {
		size := int64(0)
		for i := range kept {
			if size += kept[i].size; size > store.MaxPageBytes && i > 0 {
				kept = kept[:i]
				break
			}
		}
	}
	calls, err := s.bodies(ctx, kept, with)
	slices.Reverse(calls)
	return p.Of(calls), err
}

// RunCalls implements store.Calls. The index of runs has the calls in histories, and for a
// while those that were just dropped.
func (s *backend) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	if limit = min(limit, store.MaxRunCalls); limit == 0 {
		return nil, nil
	}
	found, err := s.scroll(ctx, s.calls, all(is(fieldRun, runID(workspace, run))), descending(fieldStamp), limit,
		fieldLife, fieldOwner, fieldSize, fieldStamp)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	owners := map[string]bool{}
	for _, p := range found {
		owners[p.word(fieldOwner)] = true
	}
	tools, err := s.getMap(ctx, s.tools, keysOf(owners), include(fieldLife))
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(p point) bool { return tools[p.word(fieldOwner)].word(fieldLife) != p.word(fieldLife) })
	calls, err := s.bodies(ctx, sizesOf(found), whole())
	out := make([]store.RunCall, len(calls))
	for i := range calls {
		out[i] = store.RunCallOf(&calls[i])
	}
	return out, err
}

// sizesOf is what bodies needs of calls.
func sizesOf(ps []point) []narrow {
	out := make([]narrow, len(ps))
	for i, p := range ps {
		out[i] = narrow{id: p.id, size: p.int(fieldSize)}
	}
	return out
}

// bodies reads calls, in this order. One that was let go since is left out.
func (s *backend) bodies(ctx context.Context, of []narrow, with *qd.WithPayloadSelector) ([]memoryd.Call, error) {
	out := make([]memoryd.Call, 0, len(of))
	for len(of) > 0 {
		n := s.replySize(of)
		ids := make([]string, n)
		for i := range n {
			ids[i] = of[i].id
		}
		of = of[n:]
		found, err := s.getMap(ctx, s.calls, ids, with)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			p := found[id]
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
func (s *backend) replySize(of []narrow) int {
	size := int64(0)
	for i := range of {
		size += of[i].size + 4096
		if i > 0 && (size > maxReplyBytes/2 || i >= getBatch) {
			return i
		}
	}
	return len(of)
}

// HistorySize implements store.Calls.
func (s *backend) HistorySize(ctx context.Context, ref memoryd.ToolRef) (size store.Size, err error) {
	kept, err := s.historyOf(ctx, ref)
	for i := range kept {
		size.Add(store.Size{Count: 1, Bytes: kept[i].size})
	}
	return size, err
}

// Described implements store.Calls.
func (s *backend) Described(ctx context.Context, ref memoryd.ToolRef) (store.Description, error) {
	d, err := s.described(ctx, ref)
	return store.Description{Tool: d.Tool, Samples: samples(d.kept)}, err
}
