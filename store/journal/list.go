package journal

import (
	"context"
	"slices"
	"strings"

	"memoryd"
)

// ListTools implements store.Tools.
func (s *backend) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	var out []memoryd.Tool
	for len(out) < limit {
		touched, gone := s.q.touched(workspace)
		page, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Tool, error) {
			return s.remote.ListTools(ctx, workspace, after, limit-len(out))
		})
		if err != nil {
			return nil, err
		}
		if !ok || gone {
			return s.listLocally(ctx, workspace, after, limit, out)
		}
		full := len(page) == limit-len(out)
		if len(touched) == 0 {
			return append(out, page...), nil
		}
		names := merged(page, touched, after, full, func(t memoryd.Tool) string { return t.Tool })
		for _, name := range names {
			if len(out) == limit {
				return out, nil
			}
			after = name
			if out, err = s.appendTool(ctx, out, page, touched, memoryd.ToolRef{Workspace: workspace, Tool: name}); err != nil {
				return nil, err
			}
		}
		if !full {
			break
		}
	}
	return out, nil
}

// appendTool appends a tool as it is in the page or, if something waits for it,
// as it will be.
func (s *backend) appendTool(ctx context.Context, out, page []memoryd.Tool, touched []string, ref memoryd.ToolRef) ([]memoryd.Tool, error) {
	if _, waits := slices.BinarySearch(touched, ref.Tool); !waits {
		i, _ := slices.BinarySearchFunc(page, ref.Tool, func(t memoryd.Tool, name string) int { return strings.Compare(t.Tool, name) })
		return append(out, page[i]), nil
	}
	t, err := s.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return out, nil
	}
	return append(out, t), err
}

// merged gives the names in a page and those for which something waits, in order:
// names greater than after and, if more pages follow, not beyond this one.
func merged[T any](page []T, touched []string, after string, full bool, name func(T) string) []string {
	var names []string
	for _, t := range page {
		names = append(names, name(t))
	}
	end := ""
	if full && len(names) > 0 {
		end = names[len(names)-1]
	}
	for _, n := range touched {
		if n > after && (end == "" || n <= end) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// listLocally goes on with what this process recorded.
func (s *backend) listLocally(ctx context.Context, workspace, after string, limit int, out []memoryd.Tool) ([]memoryd.Tool, error) {
	page, err := s.local.ListTools(ctx, workspace, after, limit-len(out))
	if err != nil {
		return nil, err
	}
	return s.withGuidelines(ctx, append(out, page...))
}

// withGuidelines gives local tools the guidelines that the remote store was last seen
// to hold.
func (s *backend) withGuidelines(ctx context.Context, tools []memoryd.Tool) ([]memoryd.Tool, error) {
	var err error
	for i := range tools {
		if tools[i].Guideline, err = s.guidelines.load(ctx, tools[i].ToolRef); err != nil {
			return nil, err
		}
	}
	return tools, nil
}

// ListWorkspaces implements store.Tools.
func (s *backend) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	var out []string
	for len(out) < limit {
		touched := s.q.touchedSpaces()
		page, ok, err := ask(ctx, s, func(ctx context.Context) ([]string, error) {
			return s.remote.ListWorkspaces(ctx, after, limit-len(out))
		})
		if err != nil {
			return nil, err
		}
		if !ok {
			page, err = s.local.ListWorkspaces(ctx, after, limit-len(out))
			return append(out, page...), err
		}
		full := len(page) == limit-len(out)
		names := merged(page, touched, after, full, func(n string) string { return n })
		for _, name := range names {
			if len(out) == limit {
				return out, nil
			}
			after = name
			if out, err = s.appendSpace(ctx, out, touched, name); err != nil {
				return nil, err
			}
		}
		if !full {
			break
		}
	}
	return out, nil
}

// appendSpace appends a workspace unless what waits leaves it empty.
func (s *backend) appendSpace(ctx context.Context, out, touched []string, name string) ([]string, error) {
	if _, waits := slices.BinarySearch(touched, name); waits {
		tools, err := s.ListTools(ctx, name, "", 1)
		if err != nil || len(tools) == 0 {
			return out, err
		}
	}
	return append(out, name), nil
}

// SearchTools implements store.Tools. Tools for which something waits and that
// the remote store does not find, but the local copy does, come last.
func (s *backend) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	touched, gone := s.q.touched(workspace)
	found, ok, err := ask(ctx, s, func(ctx context.Context) ([]memoryd.Tool, error) {
		return s.remote.SearchTools(ctx, workspace, query, limit)
	})
	if err != nil || ok && len(touched) == 0 && !gone {
		return found, err
	}
	mine, err := s.local.SearchTools(ctx, workspace, query, limit)
	if err != nil {
		return nil, err
	}
	if !ok || gone {
		return s.withGuidelines(ctx, mine)
	}
	for _, t := range mine {
		_, waits := slices.BinarySearch(touched, t.Tool)
		if waits && !slices.ContainsFunc(found, func(o memoryd.Tool) bool { return o.ToolRef == t.ToolRef }) {
			found = append(found, t)
		}
	}
	return s.current(ctx, found, touched, limit)
}

// current replaces tools for which something waits by what they will be.
func (s *backend) current(ctx context.Context, found []memoryd.Tool, touched []string, limit int) ([]memoryd.Tool, error) {
	var out []memoryd.Tool
	for _, t := range found {
		if _, waits := slices.BinarySearch(touched, t.Tool); waits {
			now, err := s.Tool(ctx, t.ToolRef)
			if memoryd.IsKind(err, memoryd.NotFound) {
				continue
			}
			if err != nil {
				return nil, err
			}
			t = now
		}
		out = append(out, t)
	}
	return out[:min(limit, len(out))], nil
}
