package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// The sizes of pages.
const (
	defaultPage = 100
	maxPage     = 1000
)

// page reads limit and cursor. A cursor is the last name of the page before.
func page(c echo.Context) (after string, limit int, err error) {
	limit = defaultPage
	if text := c.QueryParam("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxPage {
			return "", 0, memoryd.Errorf(memoryd.Invalid, "limit: must be 1 to %d", maxPage)
		}
	}
	name, err := base64.RawURLEncoding.DecodeString(c.QueryParam("cursor"))
	if err != nil {
		return "", 0, memoryd.Errorf(memoryd.Invalid, "cursor: not one that this server gave")
	}
	return string(name), limit, nil
}

func cursorAfter(name string) string { return base64.RawURLEncoding.EncodeToString([]byte(name)) }

func (s *server) listWorkspaces(c echo.Context) error {
	after, limit, err := page(c)
	if err != nil {
		return err
	}
	names, err := s.Store.ListWorkspaces(c.Request().Context(), after, limit)
	if err != nil {
		return err
	}
	list := wire.WorkspaceList{Workspaces: names}
	if len(names) == limit {
		list.NextCursor = cursorAfter(names[len(names)-1])
	}
	return writeJSON(c, http.StatusOK, jsonType, list)
}

// pathParam is a segment of the path as it was meant. Echo hands it out escaped
// where the path holds an escape that it cannot undo, a slash in a name, say.
func pathParam(c echo.Context, name string) (string, error) {
	if c.Request().URL.RawPath == "" {
		return c.Param(name), nil
	}
	value, err := url.PathUnescape(c.Param(name))
	if err != nil {
		return "", memoryd.Errorf(memoryd.Invalid, "%s: not a valid path segment", name)
	}
	return value, nil
}

// Searcher finds tools by a text; search.Index is one, and so is every store.
type Searcher interface {
	// SearchTools gives at most limit tools of the workspace, the best first.
	SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error)
}

// listTools lists the tools of a workspace: all, with ?name= the one of exactly
// that name, with ?query= those that a search for it finds.
func (s *server) listTools(c echo.Context) error {
	workspace, err := pathParam(c, "workspace")
	if err != nil {
		return err
	}
	if name := c.QueryParam("name"); name != "" {
		return s.oneTool(c, memoryd.ToolRef{Workspace: workspace, Tool: name})
	}
	after, limit, err := page(c)
	if err != nil {
		return err
	}
	query := c.QueryParam("query")
	tools, err := s.findTools(c.Request().Context(), workspace, query, after, limit)
	if err != nil {
		return err
	}
	list := wire.ToolList{Tools: make([]wire.ToolInfo, len(tools))}
	for i, tool := range tools {
		m, err := s.Reader.Complete(c.Request().Context(), tool, ops.NoCalls)
		if err != nil {
			return err
		}
		list.Tools[i] = toolInfoOf(m)
	}
	if len(tools) == limit && query == "" {
		list.NextCursor = cursorAfter(tools[len(tools)-1].Tool)
	}
	return writeJSON(c, http.StatusOK, jsonType, list)
}

// findTools gives a page of all tools in byte order, or the best that a query
// finds.
func (s *server) findTools(ctx context.Context, workspace, query, after string, limit int) ([]memoryd.Tool, error) {
	switch {
	case query == "":
		return s.Store.ListTools(ctx, workspace, after, limit)
	case after != "":
		return nil, memoryd.Errorf(memoryd.Invalid, "cursor: a query has one page")
	}
	if s.Search != nil {
		return s.Search.SearchTools(ctx, workspace, query, limit)
	}
	return s.Store.SearchTools(ctx, workspace, query, limit)
}

func (s *server) oneTool(c echo.Context, ref memoryd.ToolRef) error {
	list := wire.ToolList{}
	m, err := s.Reader.Read(c.Request().Context(), ref, ops.NoCalls)
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
	case err != nil:
		return err
	default:
		list.Tools = []wire.ToolInfo{toolInfoOf(m)}
	}
	return writeJSON(c, http.StatusOK, jsonType, list)
}

func toolInfoOf(m ops.Memory) wire.ToolInfo {
	return wire.ToolInfo{
		WorkspaceID: m.Tool.Workspace, ToolName: m.Tool.Tool, MemoryID: m.Tool.MemoryID(), Statistics: m.Statistics,
		GuidelineRevision: m.Tool.Guideline.Revision,
		TimeCreated:       timeText(m.Tool.Created), TimeModified: timeText(m.Tool.Modified),
	}
}
