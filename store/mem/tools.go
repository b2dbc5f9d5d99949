package mem

import (
	"context"
	"maps"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// Tool implements store.Tools.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	t := s.find(ref)
	if t == nil {
		return memoryd.Tool{}, store.UnknownTool()
	}
	return t.describe(), nil
}

// describe gives the tool as callers see it.
func (t *tool) describe() memoryd.Tool {
	out := t.Tool
	out.Kept = len(t.calls)
	for _, c := range t.calls {
		if c.Evaluation.State == memoryd.Pending {
			out.Pending++
		}
	}
	return out
}

// ListTools implements store.Tools.
func (s *backend) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	sp := s.spaces[workspace]
	if sp == nil {
		return nil, nil
	}
	var out []memoryd.Tool
	for _, name := range page(sp.tools, after, limit) {
		out = append(out, sp.tools[name].describe())
	}
	return out, nil
}

// ListWorkspaces implements store.Tools.
func (s *backend) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return page(s.spaces, after, limit), nil
}

// page gives up to limit keys of m greater than after, in byte order.
func page[V any](m map[string]V, after string, limit int) []string {
	names := slices.Sorted(maps.Keys(m))
	at, found := slices.BinarySearch(names, after)
	if found {
		at++
	}
	names = names[at:]
	return names[:min(limit, len(names))]
}

// PutGuideline implements store.Tools.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	t := s.find(ref)
	if t == nil {
		return store.UnknownTool()
	}
	if t.Guideline.Revision != expect {
		return store.Replaced("guideline")
	}
	g.Revision = expect + 1
	t.Guideline = g
	t.Modified = time.Now()
	return nil
}

// DeleteTool implements store.Tools.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Tool != "" {
		s.deleteRecords(ref)
	}
	sp := s.spaces[ref.Workspace]
	if sp == nil {
		return nil
	}
	maps.DeleteFunc(sp.keys, func(_ memoryd.CallKey, tool string) bool { return tool == ref.Tool })
	delete(sp.tools, ref.Tool)
	if len(sp.tools) == 0 {
		delete(s.spaces, ref.Workspace)
	}
	return nil
}

// DeleteWorkspace implements store.Tools.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	s.deleteRecords(memoryd.ToolRef{Workspace: workspace})
	sp := s.spaces[workspace]
	if sp == nil {
		return 0, nil
	}
	delete(s.spaces, workspace)
	return len(sp.tools), nil
}
