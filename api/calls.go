package api

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// toolOf reads the workspace and the tool from the path.
func toolOf(c echo.Context) (ref memoryd.ToolRef, err error) {
	if ref.Workspace, err = workspaceParam(c); err != nil {
		return ref, err
	}
	ref.Tool, err = pathParam(c, "tool")
	return ref, err
}

// callID reads a call's id from the path.
func callID(c echo.Context) (key memoryd.CallKey, err error) {
	id, err := pathParam(c, "call")
	if err != nil {
		return key, err
	}
	raw, err := hex.DecodeString(id)
	if err != nil || copy(key[:], raw) != len(raw) || len(raw) != len(key) {
		return key, memoryd.Errorf(memoryd.Invalid, "call: an id is %d hexadecimal digits", 2*len(key))
	}
	return key, nil
}

// listCalls lists the kept calls of a tool, the newest first. A cursor is the
// number of the last call of the page before.
func (s *server) listCalls(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	after, limit, err := page(c)
	if err != nil {
		return nil, err
	}
	var before int64
	if after != "" {
		if before, err = strconv.ParseInt(after, 10, 64); err != nil || before < 1 {
			return nil, memoryd.Errorf(memoryd.Invalid, "cursor: not one that this server gave")
		}
	}
	p, err := s.Flows.ListCalls.Run(c.Request().Context(), ops.ListCalls{ToolRef: ref, Before: before, Limit: limit})
	if err != nil {
		return nil, err
	}
	list := wire.CallList{Calls: make([]wire.StoredCall, len(p.Calls))}
	for i := range p.Calls {
		list.Calls[i] = storedCallOf(&p.Calls[i], p.SummarisedThrough)
	}
	if p.Next > 0 {
		list.NextCursor = cursorAfter(strconv.FormatInt(p.Next, 10))
	}
	return list, nil
}

func storedCallOf(c *memoryd.Call, summarisedThrough int64) wire.StoredCall {
	e := &c.Evaluation
	out := wire.StoredCall{
		ID: c.Key.String(), Number: c.Seq, Call: callOf(c, summarisedThrough),
		Judgement: wire.Judgement{
			State: string(e.State), By: e.JudgedBy, Rule: e.Rule, Version: e.JudgeVersion, At: memoryd.TimeText(e.JudgedAt),
			FailedChecks: checksOf(e.FailedChecks), Attempts: e.Attempts, LastError: e.LastError, NotBefore: memoryd.TimeText(e.NotBefore),
			Cost: wire.Cost{Requests: e.Cost.Requests, PromptTokens: e.Cost.PromptTokens, CompletionTokens: e.Cost.CompletionTokens},
		},
	}
	if o := e.Overruled; o != nil {
		out.Judgement.Overruled = &wire.Overruled{
			State: string(o.State), Score: o.Score, By: o.JudgedBy, Rule: o.Rule, Version: o.JudgeVersion,
		}
	}
	return out
}

// checksOf gives the names of failed checks.
func checksOf(names string) []string { return append([]string{}, strings.Fields(names)...) }

func (s *server) getCall(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	key, err := callID(c)
	if err != nil {
		return nil, err
	}
	call, err := s.Flows.GetCall.Run(c.Request().Context(), ops.GetCall{ToolRef: ref, Key: key})
	return storedCallOf(&call.Call, call.SummarisedThrough), err
}

// putEvaluation lets a person correct a verdict.
func (s *server) putEvaluation(c echo.Context, req *wire.CorrectionRequest) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	key, err := callID(c)
	if err != nil {
		return nil, err
	}
	if req.Score == nil {
		return nil, missing("score")
	}
	call, err := s.Flows.CorrectCall.Run(c.Request().Context(), ops.CorrectCall{ToolRef: ref, Key: key, Correction: ops.Correction{
		Score: *req.Score, Summary: or(req.Summary, ""), Evaluation: or(req.Evaluation, ""), By: or(req.By, ""),
	}})
	return storedCallOf(&call.Call, 0), err
}

// withdrawEvaluation takes a person's verdict back.
func (s *server) withdrawEvaluation(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	key, err := callID(c)
	if err != nil {
		return nil, err
	}
	call, err := s.Flows.WithdrawCorrection.Run(c.Request().Context(), ops.Withdraw{ToolRef: ref, Key: key})
	return storedCallOf(&call.Call, 0), err
}

// listCorrections streams the corrected calls of a workspace as labelled
// JSON-lines, which "memoryd evaluate" reads.
func (s *server) listCorrections(c echo.Context, _ []byte) (any, error) {
	workspace, err := workspaceParam(c)
	if err != nil {
		return nil, err
	}
	corrections, err := s.Flows.ListCorrections.Run(c.Request().Context(), ops.ListCorrections{Workspace: workspace})
	if err != nil {
		return nil, err
	}
	return streamed(func(w io.Writer) error {
		for line, err := range corrections.Lines {
			if err == nil {
				_, err = w.Write(line)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}), nil
}

// streamed answers with JSON-lines. A failure before the first line is answered as
// any other; after it the connection is cut, so that nobody takes a part for the
// whole.
func streamed(write func(w io.Writer) error) written {
	return func(c echo.Context) error {
		w := c.Response()
		w.Header().Set(echo.HeaderContentType, "application/x-ndjson")
		err := write(w)
		switch {
		case err != nil && w.Committed:
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Del(echo.HeaderContentType)
		case !w.Committed:
			w.WriteHeader(http.StatusOK)
		}
		return err
	}
}

// takeSnapshot streams a copy of a workspace or of the whole store.
func (s *server) takeSnapshot(c echo.Context, body []byte) (any, error) {
	var req wire.SnapshotRequest
	if !isBlank(body) {
		if err := s.decode(body, &req); err != nil {
			return nil, err
		}
	}
	workspace := or(req.Workspace, "")
	ctx, err := c.Request().Context(), error(nil)
	if workspace == "" {
		err = everywhere(ctx)
	} else {
		workspace = workspaceOf(ctx, workspace)
	}
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Flows.Snapshot.Run(ctx, ops.TakeSnapshot{Workspace: workspace})
	if err != nil {
		return nil, err
	}
	return streamed(snapshot.Write), nil
}

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

func (s *server) listWorkspaces(c echo.Context, _ []byte) (any, error) {
	after, limit, err := page(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Flows.ListWorkspaces.Run(c.Request().Context(), ops.ListWorkspaces{
		After: after, Limit: limit, Only: access.Of(c.Request().Context()).Workspaces,
	})
	return wire.WorkspaceList{Workspaces: p.Names, NextCursor: cursorAfter(p.Next)}, err
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

// workspaceParam is the workspace of the path.
func workspaceParam(c echo.Context) (string, error) {
	name, err := pathParam(c, "workspace")
	return workspaceOf(c.Request().Context(), name), err
}

// listTools lists the tools of a workspace: all, with ?name= the one of exactly
// that name, with ?query= those that a search for it finds.
func (s *server) listTools(c echo.Context, _ []byte) (any, error) {
	workspace, err := workspaceParam(c)
	if err != nil {
		return nil, err
	}
	after, limit, err := page(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Flows.ListTools.Run(c.Request().Context(), ops.ListTools{
		Workspace: workspace, Name: c.QueryParam("name"), Query: c.QueryParam("query"), After: after, Limit: limit,
	})
	list := wire.ToolList{Tools: make([]wire.ToolInfo, len(p.Tools)), NextCursor: cursorAfter(p.Next)}
	for i, m := range p.Tools {
		list.Tools[i] = toolInfoOf(m)
	}
	return list, err
}

func (s *server) getTool(c echo.Context, _ []byte) (any, error) {
	ref, err := toolOf(c)
	if err != nil {
		return nil, err
	}
	p, err := s.Flows.ListTools.Run(c.Request().Context(), ops.ListTools{Workspace: ref.Workspace, Name: ref.Tool})
	if err == nil && len(p.Tools) == 0 {
		err = memoryd.Errorf(memoryd.NotFound, "the workspace has no tool %q", ref.Tool)
	}
	if err != nil {
		return nil, err
	}
	return toolInfoOf(p.Tools[0]), nil
}

func toolInfoOf(m ops.Memory) wire.ToolInfo {
	return wire.ToolInfo{
		WorkspaceID: m.Tool.Workspace, ToolName: m.Tool.Tool, MemoryID: m.Tool.MemoryID(), Statistics: wire.Statistics(m.Statistics),
		GuidelineRevision: m.Tool.Guideline.Revision,
		TimeCreated:       memoryd.TimeText(m.Tool.Created), TimeModified: memoryd.TimeText(m.Tool.Modified),
	}
}
