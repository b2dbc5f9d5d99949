package qdrant

import (
	"cmp"
	"context"
	"math"
	"slices"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// History implements store.Calls: one look over the history, then the bodies by
// id, as many at a time as fit a reply.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	kept, err := s.look(ctx, t.life, limit)
	if err != nil {
		return nil, err
	}
	slices.Reverse(kept)
	return s.bodies(ctx, kept, whole())
}

// Call implements store.Calls.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	t, err := s.find(ctx, ref)
	if err != nil {
		return memoryd.Call{}, err
	}
	id := callID(ref.Workspace, key)
	found, err := s.getMap(ctx, s.calls, []string{id}, whole())
	if err != nil {
		return memoryd.Call{}, err
	}
	p := found[id]
	if t == nil || p.word(fieldKept) != t.life {
		return memoryd.Call{}, notKept()
	}
	kept, err := s.keeps(ctx, t.life, point{id, p})
	if err != nil {
		return memoryd.Call{}, err
	}
	if !kept {
		return memoryd.Call{}, notKept()
	}
	return decodeCall(p)
}

// keeps tells whether a call is one that look gives: by two counts if, as nearly
// always, no newer call asked for so few that it would be out.
func (s *backend) keeps(ctx context.Context, life string, p point) (bool, error) {
	newer := []*qd.Condition{is(fieldKept, life), above(fieldSeq, p.int(fieldSeq))}
	n, err := s.count(ctx, s.calls, all(newer...))
	if err != nil || n == 0 {
		return err == nil, err
	}
	short, err := s.count(ctx, s.calls, all(append(newer, between(fieldKeep, 0, n))...))
	if err != nil || short == 0 {
		return err == nil, err
	}
	kept, err := s.look(ctx, life, 0)
	return slices.ContainsFunc(kept, func(o point) bool { return o.id == p.id }), err
}

// ListCalls implements store.Calls. Of calls before the page only the narrow
// points are read, which say what the history keeps.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil || p.Limit == 0 {
		return nil, err
	}
	limit := p.Limit
	if p.Before > 0 {
		limit = 0
	}
	narrow, err := s.look(ctx, t.life, limit)
	if err != nil {
		return nil, err
	}
	narrow = slices.DeleteFunc(narrow, func(o point) bool { return p.Before > 0 && o.int(fieldSeq) >= p.Before })
	narrow = narrow[:min(len(narrow), p.Limit)]
	with := whole()
	if p.Brief {
		with = qd.NewWithPayloadExclude(fieldInput, fieldOutput)
	} else {
		size := int64(0)
		for i, o := range narrow {
			if size += o.int(fieldSize); size > store.MaxPageBytes && i > 0 {
				narrow = narrow[:i]
				break
			}
		}
	}
	calls, err := s.bodies(ctx, narrow, with)
	slices.Reverse(calls)
	return p.Of(calls), err
}

// RunCalls implements store.Calls: the index of runs holds what histories keep,
// and for a while what they have just let go.
func (s *backend) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	if limit = min(limit, store.MaxRunCalls); limit == 0 {
		return nil, nil
	}
	found, err := s.scroll(ctx, s.calls, all(is(fieldRun, runID(workspace, run))), descending(fieldStamp, nil), limit,
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
	calls, err := s.bodies(ctx, found, whole())
	out := make([]store.RunCall, len(calls))
	for i := range calls {
		out[i] = store.RunCallOf(&calls[i])
	}
	return out, err
}

// whole asks for all fields of a point.
func whole() *qd.WithPayloadSelector { return qd.NewWithPayload(true) }

// bodies reads calls, in the order of their narrow points. One that was let go
// since is left out.
func (s *backend) bodies(ctx context.Context, narrow []point, with *qd.WithPayloadSelector) ([]memoryd.Call, error) {
	out := make([]memoryd.Call, 0, len(narrow))
	for len(narrow) > 0 {
		n := s.replySize(narrow)
		ids := make([]string, n)
		for i := range n {
			ids[i] = narrow[i].id
		}
		narrow = narrow[n:]
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
func (s *backend) replySize(narrow []point) int {
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
func (s *backend) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return nil, err
	}
	kept, err := s.look(ctx, t.life, 0)
	if err != nil {
		return nil, err
	}
	return samples(kept)
}

// Described implements store.Calls.
func (s *backend) Described(ctx context.Context, ref memoryd.ToolRef) (store.Description, error) {
	d, err := s.described(ctx, ref)
	if err != nil {
		return store.Description{}, err
	}
	out := store.Description{Tool: d.Tool}
	out.Samples, err = samples(d.kept)
	return out, err
}

// samples turns the narrow points of a history round.
func samples(kept []point) (out []memoryd.Sample, err error) {
	out = make([]memoryd.Sample, len(kept))
	for i, p := range kept {
		if out[len(kept)-1-i], err = decodeSample(p.payload); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// look gives the narrow points of a history, newest first, at most limit of them
// (0: all).
//
// Which calls a history keeps follows from the calls alone: each says how many
// were to be kept when it came, so a call with n newer ones is kept as long as
// none of those, nor it, asks for less. The points of calls that are no longer
// kept are cleared away later (see sweep.go); until then readers pass over them
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
