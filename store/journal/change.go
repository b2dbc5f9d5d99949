package journal

import (
	"context"

	"memoryd"
)

// DeleteTool implements store.Tools: at once in the local copy, and at the remote
// store in its turn.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Workspace == "" || ref.Tool == "" {
		return nil // no tool has that name
	}
	es, _, err := s.accept(ctx, &op{Kind: opDeleteTool, Ref: ref})
	if err != nil {
		return err
	}
	s.guides.forget(ref)
	s.await(ctx, es)
	return nil
}

// DeleteWorkspace implements store.Tools. While the remote store is away it
// reports how many tools the local copy had.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	if workspace == "" {
		return 0, nil
	}
	ref := memoryd.ToolRef{Workspace: workspace}
	es, outs, err := s.accept(ctx, &op{Kind: opDeleteWorkspace, Ref: ref})
	if err != nil {
		return 0, err
	}
	s.guides.forget(ref)
	s.await(ctx, es)
	if said := s.q.said(es[0]); said != nil {
		return said.removed, nil
	}
	return outs[0].removed, nil
}

// PutGuideline implements store.Tools. The remote store compares; while it is
// away this fails as unavailable.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		if err = s.remote.PutGuideline(ctx, ref, g, expect); err == nil {
			g.Revision = expect + 1
			s.keepGuide(ctx, memoryd.Tool{ToolRef: ref, Guideline: g})
		}
		return none, err
	})
	return err
}

// RestoreTool implements store.Tools. The remote store decides; while it is away
// this fails as unavailable. What the local copy had of the tool is replaced.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		unlock := s.order.lock([]memoryd.ToolRef{t.ToolRef})
		defer unlock()
		if err := s.barrier(ctx); err != nil {
			return none, err
		}
		if err := s.remote.RestoreTool(ctx, t, calls); err != nil {
			return none, err
		}
		s.guides.forget(t.ToolRef)
		ctx = context.WithoutCancel(ctx)
		err = s.local.DeleteTool(ctx, t.ToolRef)
		if err == nil {
			err = s.local.RestoreTool(ctx, t, calls)
		}
		if err != nil {
			s.log.Warn("a restored tool is not in the local copy", "err", err)
			return none, nil
		}
		s.keepGuide(ctx, t)
		return none, nil
	})
	return err
}
