package qdrant

import (
	"context"
	"slices"

	"memoryd"

	qd "github.com/qdrant/go-client/qdrant"
)

// DeleteTool implements store.Tools. The tool's life is deleted with its point, and then
// nothing of the tool can be reached. A tombstone remembers the life until its remains are
// removed: at once, and again by a sweep, for writes that were in progress.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return err
	}
	if err := s.end(ctx, []ending{{t.id, t.life}}); err != nil {
		return err
	}
	return s.removeLife(ctx, t.life)
}

// DeleteCalls implements store.Calls: it removes the bodies of the calls. Their small points
// stay, so that the calls are recognised and counted.
func (s *backend) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	t, err := s.find(ctx, ref)
	if err != nil || t == nil {
		return 0, err
	}
	kept, err := s.historyCalls(ctx, t.life)
	if err != nil {
		return 0, err
	}
	wanted := map[string]bool{}
	for _, k := range keys {
		wanted[callID(ref.Workspace, k)] = true
	}
	var gone []*qd.PointId
	for _, p := range kept {
		if wanted[p.id] {
			gone = append(gone, qd.NewIDUUID(p.id))
		}
	}
	if len(gone) > 0 && len(gone) == len(kept) {
		return len(gone), s.DeleteTool(ctx, ref)
	}
	for part := range slices.Chunk(gone, getBatch) {
		if err := s.clearCalls(ctx, t.life, qd.NewHasID(part...)); err != nil {
			return 0, err
		}
	}
	return len(gone), nil
}

// ending is a tool whose life is to end.
type ending struct{ id, life string }

// end takes tools away from callers.
func (s *backend) end(ctx context.Context, tools []ending) error {
	tombstones := make([]*qd.PointStruct, len(tools))
	should := make([]*qd.Condition, len(tools))
	now := s.clock.next(1)
	for i, t := range tools {
		s.lives.Remove(t.id)
		tombstones[i] = newPoint(tombstoneID(t.life), payload{fieldTombstone: integer(now), fieldLife: word(t.life)})
		should[i] = qd.NewFilterAsCondition(all(qd.NewHasID(qd.NewIDUUID(t.id)), is(fieldLife, t.life)))
	}
	if err := s.upsert(ctx, s.tools, tombstones); err != nil {
		return err
	}
	return s.remove(ctx, s.tools, qd.NewPointsSelectorFilter(&qd.Filter{Should: should}))
}

// removeLife removes what belonged to a life that has ended.
func (s *backend) removeLife(ctx context.Context, life string) error {
	left := &qd.Filter{Should: []*qd.Condition{is(fieldLife, life), is(fieldContent, life)}}
	if err := s.remove(ctx, s.calls, qd.NewPointsSelectorFilter(left)); err != nil {
		return err
	}
	return s.remove(ctx, s.docs, qd.NewPointsSelectorFilter(all(is(fieldOfLife, life))))
}

// DeleteWorkspace implements store.Tools.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	if workspace == "" {
		return 0, nil
	}
	space := workspaceID(workspace)
	var tools []ending
	err := s.scrollAll(ctx, s.tools, all(is(fieldSpaceID, space)), 1000, func(ps []point) error {
		for _, p := range ps {
			tools = append(tools, ending{p.id, p.word(fieldLife)})
		}
		return nil
	}, fieldLife)
	if err != nil {
		return 0, err
	}
	for part := range slices.Chunk(tools, 256) {
		if err := s.end(ctx, part); err != nil {
			return 0, err
		}
	}
	if err := s.remove(ctx, s.docs, qd.NewPointsSelectorFilter(all(is(fieldSpaceID, space)))); err != nil {
		return 0, err
	}
	if err := s.forgetWorkspace(ctx, workspace); err != nil {
		return 0, err
	}
	for _, t := range tools {
		if err := s.removeLife(ctx, t.life); err != nil {
			return 0, err
		}
	}
	return len(tools), nil
}

// forgetWorkspace removes the workspace's point, unless a tool was made
// meanwhile.
func (s *backend) forgetWorkspace(ctx context.Context, workspace string) error {
	space := workspaceID(workspace)
	if err := s.remove(ctx, s.tools, qd.NewPointsSelector(qd.NewIDUUID(space))); err != nil {
		return err
	}
	found, err := s.scroll(ctx, s.tools, all(is(fieldSpaceID, space)), nil, 1)
	if err != nil || len(found) == 0 {
		return err
	}
	return s.insert(ctx, s.tools, s.compareOrder(), []*qd.PointStruct{newWorkspacePoint(workspace)})
}
