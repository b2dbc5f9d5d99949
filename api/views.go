package api

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/ops"

	"github.com/labstack/echo/v4"
)

// instant is a time as the native interface writes it; "" is none.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// getOverview says what goes wrong most in a workspace, and what changed.
func (s *server) getOverview(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.GetOverview, ops.GetOverview{Workspace: q.workspace(), By: q.oneOf("by", "calls", "time", "tokens", "cost")}, shown[ops.OverviewPage])
}

func each[From, To any](list []From, make func(From) To) []To {
	out := []To{}
	for _, v := range list {
		out = append(out, make(v))
	}
	return out
}

// foundCalls is a page of calls of all tools.
type foundCalls struct {
	ops.Seen

	Calls      []wire.StoredCall `json:"calls"`
	Total      int               `json:"total"`
	Searched   int               `json:"searched"`
	NextCursor string            `json:"next_cursor,omitempty"`
}

// findCalls lists calls of all tools. A cursor is the time and the id of the last call
// of the page before.
func (s *server) findCalls(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.FindCalls{Workspace: q.workspace(), Text: c.QueryParam("query"), Limit: q.limit()}
	in.Tool, in.Judge, in.Rule = c.QueryParam("tool"), c.QueryParam("judge"), c.QueryParam("rule")
	in.Cause, in.Agent, in.Run = c.QueryParam("cause"), c.QueryParam("agent"), c.QueryParam("run")
	in.Verdict = q.oneOf("verdict", ops.CallVerdicts()...)
	switch after := q.cursor(); len(after) {
	case 0:
	case 8 + len(in.After.Key):
		in.After.Time = time.Unix(0, int64(binary.BigEndian.Uint64([]byte(after)))) //nolint:gosec // it was one
		copy(in.After.Key[:], after[8:])
	default:
		q.foreignCursor()
	}
	return answer(q, s.Flows.FindCalls, in, func(p ops.FoundCalls) any {
		out := foundCalls{Seen: p.Seen, Total: p.Total, Searched: p.Searched}
		for i := range p.Calls {
			out.Calls = append(out.Calls, storedCallOf(&p.Calls[i], 0))
		}
		if !p.Next.Time.IsZero() {
			place := binary.BigEndian.AppendUint64(nil, uint64(p.Next.Time.UnixNano())) //nolint:gosec // read back as it was
			out.NextCursor = cursorAfter(string(append(place, p.Next.Key[:]...)))
		}
		return out
	})
}

// getRun lists the calls of a run in order.
func (s *server) getRun(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListRun, ops.ListRun{Workspace: q.workspace(), Run: q.path("run")}, func(calls []ops.RunCall) any {
		out := wire.Run{Calls: []wire.RunCall{}}
		for _, call := range calls {
			input := call.Input
			if len(bytes.TrimSpace(input)) == 0 {
				input = json.RawMessage("null") // it was too long to be kept with the run
			}
			out.Calls = append(out.Calls, wire.RunCall{
				ID: call.Key.String(), ToolName: call.Tool, Time: instant(call.Time), State: string(call.State), Score: call.Score, Input: input,
			})
		}
		return out
	})
}

// runsPage is a page of runs, those without progress first.
type runsPage struct {
	ops.RunsPage

	NextCursor string `json:"next_cursor,omitempty"`
}

// listRuns lists the runs of a workspace, those that thrash first. A cursor is the place of
// the page.
func (s *server) listRuns(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ListRuns{Workspace: q.workspace(), Limit: q.limit()}
	if after := q.cursor(); after != "" {
		var err error
		if in.Offset, err = strconv.Atoi(after); err != nil || in.Offset < 0 {
			q.foreignCursor()
		}
	}
	return answer(q, s.Flows.ListRuns, in, func(found ops.RunsPage) any {
		out := runsPage{RunsPage: found}
		if next := in.Offset + len(found.Runs); next < found.Total && len(found.Runs) > 0 {
			out.NextCursor = cursorAfter(strconv.Itoa(next))
		}
		return out
	})
}

// listSources says which ways calls came since the server started.
func (s *server) listSources(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	q.everywhere()
	return answer(q, s.Flows.ListSources, ops.ListSources{}, shown[ops.SourceCounts])
}

// listCalls lists the kept calls of a tool, the newest first. A cursor is the
// number of the last call of the page before.
func (s *server) listCalls(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ListCalls{ToolRef: q.tool(), Limit: q.limit(), Before: q.place(1)}
	return answer(q, s.Flows.ListCalls, in, func(p ops.CallPage) any {
		list := wire.CallList{Calls: make([]wire.StoredCall, len(p.Calls))}
		for i := range p.Calls {
			list.Calls[i] = storedCallOf(&p.Calls[i], p.SummarisedThrough)
		}
		if p.Next > 0 {
			list.NextCursor = cursorAfter(strconv.FormatInt(p.Next, 10))
		}
		return list
	})
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
	q := queryOf(c)
	return answer(q, s.Flows.GetCall, ops.GetCall{ToolRef: q.tool(), Key: q.call()}, foundCall)
}

func foundCall(c ops.StoredCall) any { return storedCallOf(&c.Call, c.SummarisedThrough) }

// putEvaluation lets a person correct a verdict.
func (s *server) putEvaluation(c echo.Context, req *wire.CorrectionRequest) (any, error) {
	q := queryOf(c)
	in := ops.CorrectCall{ToolRef: q.tool(), Key: q.call()}
	if req.Score == nil {
		q.fail(missing("score"))
	}
	in.Correction = ops.Correction{
		Score: or(req.Score, 0), Summary: or(req.Summary, ""), Evaluation: or(req.Evaluation, ""), By: or(req.By, ""),
	}
	return answer(q, s.Flows.CorrectCall, in, foundCall)
}

// withdrawEvaluation takes a person's verdict back.
func (s *server) withdrawEvaluation(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.WithdrawCorrection, ops.Withdraw{ToolRef: q.tool(), Key: q.call()}, foundCall)
}

// listCorrections streams the corrected calls of a workspace as labelled
// JSON-lines, which "memoryd evaluate" reads.
func (s *server) listCorrections(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	return answer(q, s.Flows.ListCorrections, ops.ListCorrections{Workspace: q.workspace()}, func(found ops.Corrections) any {
		return streamed(func(w io.Writer) error {
			for line, err := range found {
				if err == nil {
					_, err = w.Write(line)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
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
func (s *server) takeSnapshot(c echo.Context, req *wire.SnapshotRequest) (any, error) {
	q := queryOf(c)
	workspace := or(req.Workspace, "")
	if workspace == "" {
		q.everywhere()
	} else {
		workspace = workspaceOf(q.ctx(), workspace)
	}
	return answer(q, s.Flows.Snapshot, ops.TakeSnapshot{Workspace: workspace}, func(x ops.Snapshot) any { return streamed(x.Write) })
}

func (s *server) listWorkspaces(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ListWorkspaces{After: q.cursor(), Limit: q.limit(), Only: access.Of(q.ctx()).Workspaces}
	return answer(q, s.Flows.ListWorkspaces, in, func(p ops.WorkspacePage) any {
		return wire.WorkspaceList{Workspaces: p.Names, NextCursor: cursorAfter(p.Next)}
	})
}

// listTools lists the tools of a workspace: all, with ?name= the one of exactly
// that name, with ?query= those that a search for it finds.
func (s *server) listTools(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ListTools{Workspace: q.workspace(), Name: c.QueryParam("name"), Query: c.QueryParam("query"), After: q.cursor(), Limit: q.limit()}
	return answer(q, s.Flows.ListTools, in, func(p ops.ToolPage) any {
		return wire.ToolList{Tools: each(p.Tools, toolInfoOf), NextCursor: cursorAfter(p.Next)}
	})
}

func (s *server) getTool(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	ref := q.tool()
	if q.err != nil {
		return nil, q.err
	}
	p, err := s.Flows.ListTools.Run(q.ctx(), ops.ListTools{Workspace: ref.Workspace, Name: ref.Tool})
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
		WorkspaceID: m.Tool.Workspace, ToolName: m.Tool.Tool, MemoryID: m.Tool.MemoryID(), Statistics: m.Statistics,
		GuidelineRevision: m.Tool.Guideline.Revision,
		TimeCreated:       memoryd.TimeText(m.Tool.Created), TimeModified: memoryd.TimeText(m.Tool.Modified),
	}
}
