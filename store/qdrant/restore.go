package qdrant

import (
	"context"
	"math"

	"memoryd"
	"memoryd/store"

	qd "github.com/qdrant/go-client/qdrant"
)

// RestoreTool implements store.Tools. The calls are written first, under a life that nobody
// knows yet; the tool's point then makes them a tool.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	if err := s.acquireLease(ctx); err != nil {
		return err
	}
	if err := s.vacant(ctx, t.ToolRef); err != nil {
		return err
	}
	r := &restoring{s: s, t: t, calls: calls, life: newLife(), nonce: newNonce()}
	begun := s.clock.begin(1)
	err := r.store(ctx)
	s.clock.end(begun, err, s.latest())
	if err != nil {
		if berr := s.removeLife(context.WithoutCancel(ctx), r.life); berr != nil {
			s.log.WarnContext(ctx, "cannot remove an unfinished restore", "tool", t.Tool, "err", berr)
		}
	}
	return err
}

// vacant fails with Conflict when the tool exists, and clears away one that was
// made and never had a call.
func (s *backend) vacant(ctx context.Context, ref memoryd.ToolRef) error {
	_, err := s.findCounted(ctx, ref)
	switch {
	case err == nil:
		return store.ToolExists()
	case !memoryd.IsKind(err, memoryd.NotFound):
		return err
	}
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return err
	}
	return s.end(ctx, []ending{{t.id, t.life}})
}

// restoring is a RestoreTool under way.
type restoring struct {
	s           *backend
	t           memoryd.Tool
	calls       []memoryd.Call
	life, nonce string
	stamp       int64 // of the newest call
	contents    int64
}

func (r *restoring) store(ctx context.Context) error {
	made, ids := r.points()
	r.contents = int64(len(made.contents))
	found, err := r.s.deliver(ctx, &request{points: made.all(), calls: ids})
	if err != nil {
		return err
	}
	if err := r.allMine(ctx, made.calls, ids, found.calls); err != nil {
		return err
	}
	tool := []*qd.PointStruct{r.toolPoint(), newWorkspacePoint(r.t.Workspace)}
	if err := r.s.insert(ctx, r.s.tools, r.s.compareOrder(), tool); err != nil {
		return err
	}
	after, err := r.s.find(ctx, r.t.ToolRef)
	if err != nil {
		return err
	}
	if after == nil || after.life != r.life {
		return memoryd.Errorf(memoryd.Conflict, "the tool was created in the meantime")
	}
	r.s.lives.Add(after.id, r.life)
	return nil
}

func (r *restoring) points() (made newPoints, ids []string) {
	first := r.s.clock.next(len(r.calls))
	owner := toolID(r.t.ToolRef)
	for i := range r.calls {
		c := r.calls[i]
		c.Workspace = r.t.Workspace
		r.stamp = first + int64(i)*leases
		ids = append(ids, callID(c.Workspace, c.Key))
		made.add(&c, accepted{ids[i], r.life, owner, r.nonce, r.stamp, math.MaxInt32})
	}
	return made, ids
}

// allMine fails with Conflict when a call is known already. Remnants of ended
// tools are replaced.
func (r *restoring) allMine(ctx context.Context, calls []*qd.PointStruct, ids []string, found map[string]payload) error {
	var again []*qd.PointStruct
	for i, id := range ids {
		p := found[id]
		if p.word(fieldLife) == r.life {
			continue
		}
		remnant, err := r.s.removeRemnant(ctx, id, p)
		if err != nil {
			return err
		}
		if !remnant {
			return memoryd.Errorf(memoryd.Conflict, "call %d is known under another tool", i)
		}
		again = append(again, calls[i])
	}
	if len(again) == 0 {
		return nil
	}
	return r.s.insert(ctx, r.s.calls, r.s.appendOrder(), again)
}

// toolPoint carries what the calls do not say by themselves.
func (r *restoring) toolPoint() *qd.PointStruct {
	n := int64(len(r.calls))
	pt := newToolPoint(r.t.ToolRef, r.life, r.nonce, r.t.Created)
	p := payload(pt.GetPayload())
	p[fieldCreated] = integer(r.t.Created.UnixMicro())
	p[fieldModified] = integer(r.t.Modified.UnixMicro())
	p[fieldRestored] = integer(r.stamp)
	p[fieldBaseCalls] = integer(r.t.Lifetime - n)
	p[fieldBaseDups] = integer(r.t.Duplicates - (n - r.contents))
	p[fieldBaseRev] = integer(r.t.Revision - n)
	if g := r.t.Guideline; g.Revision > 0 {
		p[fieldGuideRev] = integer(g.Revision)
		p[fieldGuide] = object(encodeGuideline(&g))
	}
	return pt
}
