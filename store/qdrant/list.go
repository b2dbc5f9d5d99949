package qdrant

import (
	"context"

	"memoryd"
	"memoryd/internal/lifecycle"

	qd "github.com/qdrant/go-client/qdrant"
)

// describers is how many tools are described at once.
const describers = 8

// ListTools implements store.Tools.
func (s *backend) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	var out []memoryd.Tool
	for len(out) < limit {
		want := limit - len(out)
		page, err := (&listing{
			s: s, collection: s.tools, within: []*qd.Condition{is(fieldSpaceID, workspaceID(workspace))},
			name: fieldTool, fields: []string{orderFields[0], orderFields[1], orderFields[2], fieldTool},
			after: after, limit: want,
		}).list(ctx)
		if err != nil || len(page) == 0 {
			return out, err
		}
		tools, err := s.describeAll(ctx, page)
		if err != nil {
			return nil, err
		}
		out = append(out, tools...)
		if len(page) < want {
			break
		}
		after = page[len(page)-1].word(fieldTool)
	}
	return out, nil
}

// describeAll describes the tools of some points, in their order, without those
// that have no call or are gone.
func (s *backend) describeAll(ctx context.Context, ps []point) ([]memoryd.Tool, error) {
	ids := make([]string, len(ps))
	for i, p := range ps {
		ids[i] = p.id
	}
	whole, err := s.getMap(ctx, s.tools, ids, qd.NewWithPayload(true))
	if err != nil {
		return nil, err
	}
	tools := make([]memoryd.Tool, len(ids))
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", describers)
	for i, id := range ids {
		p, ok := whole[id]
		if !ok {
			continue
		}
		t, err := decodeTool(point{id, p})
		if err != nil {
			return nil, err
		}
		g.Go(func() (err error) { tools[i], err = s.describe(gctx, t); return err })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := tools[:0]
	for _, t := range tools {
		if t.Lifetime > 0 {
			out = append(out, t)
		}
	}
	return out, nil
}

// ListWorkspaces implements store.Tools. Each workspace has a point; that it
// still holds a tool is looked up.
func (s *backend) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	var out []string
	for len(out) < limit {
		want := limit - len(out)
		page, err := (&listing{
			s: s, collection: s.tools, within: []*qd.Condition{is(fieldAllSpaces, allSpaces)}, name: fieldSpace,
			fields: []string{orderFields[0], orderFields[1], orderFields[2], fieldSpace}, after: after, limit: want,
		}).list(ctx)
		if err != nil || len(page) == 0 {
			return out, err
		}
		names, err := s.occupied(ctx, page)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
		if len(page) < want {
			break
		}
		after = page[len(page)-1].word(fieldSpace)
	}
	return out, nil
}

// occupied gives the names of those workspaces that hold a tool.
func (s *backend) occupied(ctx context.Context, spaces []point) ([]string, error) {
	holds := make([]bool, len(spaces))
	g, gctx := lifecycle.NewGroup(ctx, s.log, "qdrant", describers)
	for i, p := range spaces {
		g.Go(func() error {
			found, err := s.scroll(gctx, s.tools, all(is(fieldSpaceID, p.id)), nil, 1)
			holds[i] = len(found) > 0
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []string
	for i, p := range spaces {
		if holds[i] {
			out = append(out, p.word(fieldSpace))
		}
	}
	return out, nil
}
