package api

import (
	"bytes"
	"context"
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

// overviewQuery asks for an overview.
type overviewQuery struct {
	inWorkspace

	By string `query:"by" enum:"calls,time,tokens,cost" default:"calls"` // What causes are ordered by.
}

// getOverview says what goes wrong most in a workspace.
//
// Causes by calls, time or tokens, and what got worse, got better or is new. Read from a survey in memory: `reading` says that its
// first reading is under way.
func (s *server) getOverview(ctx context.Context, in *overviewQuery) (ops.OverviewPage, error) {
	return s.Flows.GetOverview.Run(ctx, ops.GetOverview{Workspace: string(in.Workspace), By: in.By})
}

func each[From, To any](list []From, as func(From) To) []To {
	out := make([]To, 0, len(list))
	for _, v := range list {
		out = append(out, as(v))
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

// callQuery says which calls are looked for.
type callQuery struct {
	inWorkspace

	Query string `query:"query"` // A text; case does not count.
	ops.Filter
	inPage
}

// findCalls finds calls of all tools.
//
// The newest first; the text is looked for in input, output and verdict for a bounded time a page, so a page may hold fewer calls and
// not be the last.
func (s *server) findCalls(ctx context.Context, in *callQuery) (out foundCalls, err error) {
	wanted := ops.FindCalls{Workspace: string(in.Workspace), Filter: in.Filter, Text: in.Query, Limit: in.Limit}
	var known bool
	if wanted.After, known = ops.PlaceAt(string(in.Cursor)); !known {
		return out, errForeignCursor
	}
	return answer(ctx, s.Flows.FindCalls, wanted, func(p ops.FoundCalls) foundCalls {
		return foundCalls{p.Seen, storedCalls(p.Calls, 0), p.Total, p.Searched, cursorAfter(p.Next.String())}
	})
}

// inRun names a run.
type inRun struct {
	inWorkspace

	Run string `path:"run"` // Its id; a slash in it is written %2F.
}

// getRun lists the calls of a run.
//
// The oldest first; as many as are kept of one. None where the run is not known.
func (s *server) getRun(ctx context.Context, in *inRun) (wire.Run, error) {
	return answer(ctx, s.Flows.ListRun, ops.ListRun{Workspace: string(in.Workspace), Run: in.Run}, func(calls []ops.RunCall) wire.Run {
		return wire.Run{Calls: each(calls, func(c ops.RunCall) wire.RunCall {
			if len(bytes.TrimSpace(c.Input)) == 0 {
				c.Input = json.RawMessage("null") // it was too long to be kept with the run
			}
			return wire.RunCall{
				ID: c.Key.String(), ToolName: c.Tool, Time: instant(c.Time), State: string(c.State), Score: c.Score, Input: c.Input,
			}
		})}
	})
}

// runsPage is a page of runs, those without progress first.
type runsPage struct {
	ops.RunsPage

	NextCursor string `json:"next_cursor,omitempty"`
}

// runsQuery asks for runs.
type runsQuery struct {
	inWorkspace
	inPage
}

// listRuns lists the runs of agents, those that thrash first.
//
// A run thrashes when three calls in a row failed, or eight of ten; then those with the most failed calls. Read from a survey in
// memory, which knows the newest 200 calls of each tool.
func (s *server) listRuns(ctx context.Context, in *runsQuery) (out runsPage, err error) {
	offset, err := in.Cursor.number(0) // a cursor is the place of the page
	if err != nil {
		return out, err
	}
	wanted := ops.ListRuns{Workspace: string(in.Workspace), Limit: in.Limit, Offset: int(offset)}
	return answer(ctx, s.Flows.ListRuns, wanted, func(found ops.RunsPage) runsPage {
		out := runsPage{RunsPage: found}
		if next := wanted.Offset + len(found.Runs); next < found.Total && len(found.Runs) > 0 {
			out.NextCursor = cursorAfter(strconv.Itoa(next))
		}
		return out
	})
}

// listSources lists the ways that calls came.
//
// Since the server started: the API, imports, wrappers, telemetry and hooks, with when each was seen last and what was dropped.
func (s *server) listSources(ctx context.Context, _ *struct{}) (ops.SourceCounts, error) {
	return s.Flows.ListSources.Run(ctx, ops.ListSources{})
}

// callsQuery asks for the calls of a tool.
type callsQuery struct {
	inTool
	inPage
}

// listCalls lists the kept calls of a tool, the newest first.
//
// With their ids and all that is known of their verdicts.
func (s *server) listCalls(ctx context.Context, in *callsQuery) (out wire.CallList, err error) {
	before, err := in.Cursor.number(1) // a cursor is the number of the last call of the page before
	if err != nil {
		return out, err
	}
	return answer(ctx, s.Flows.ListCalls, ops.ListCalls{ToolRef: in.ref(), Limit: in.Limit, Before: before},
		func(p ops.CallPage) wire.CallList {
			list := wire.CallList{Calls: storedCalls(p.Calls, p.SummarisedThrough)}
			if p.Next > 0 {
				list.NextCursor = cursorAfter(strconv.FormatInt(p.Next, 10))
			}
			return list
		})
}

func storedCalls(calls []memoryd.Call, summarisedThrough int64) []wire.StoredCall {
	return each(calls, func(c memoryd.Call) wire.StoredCall { return storedCallOf(&c, summarisedThrough) })
}

func storedCallOf(c *memoryd.Call, summarisedThrough int64) wire.StoredCall {
	e := &c.Evaluation
	out := wire.StoredCall{
		ID: c.Key.String(), Number: c.Seq, Call: callOf(c, summarisedThrough),
		Judgement: wire.Judgement{
			State: string(e.State), By: e.JudgedBy, Rule: e.Rule, Version: e.JudgeVersion, At: memoryd.TimeText(e.JudgedAt),
			FailedChecks: strings.Fields(e.FailedChecks), Attempts: e.Attempts, LastError: e.LastError, NotBefore: memoryd.TimeText(e.NotBefore),
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

// getCall shows one kept call, with all that is known of how it was judged.
func (s *server) getCall(ctx context.Context, in *inCall) (wire.StoredCall, error) {
	return answer(ctx, s.Flows.GetCall, ops.GetCall{ToolRef: in.ref(), Key: in.Call}, foundCall)
}

func foundCall(c ops.StoredCall) wire.StoredCall { return storedCallOf(&c.Call, c.SummarisedThrough) }

// correction is a person's verdict on a call.
type correction struct {
	inCall

	Body wire.Correction
}

// putEvaluation corrects the verdict on a call.
//
// A person's verdict beats the judge's, counts in the statistics, and is kept as a labelled example by which judges are measured.
func (s *server) putEvaluation(ctx context.Context, in *correction) (out wire.StoredCall, err error) {
	said := ops.Correction{
		Score: *in.Body.Score, Summary: or(in.Body.Summary, ""), Evaluation: or(in.Body.Evaluation, ""), By: or(in.Body.By, ""),
	}
	return answer(ctx, s.Flows.CorrectCall, ops.CorrectCall{ToolRef: in.ref(), Key: in.Call, Correction: said}, foundCall)
}

// withdrawEvaluation takes a person's verdict back.
//
// The judge's verdict holds again.
func (s *server) withdrawEvaluation(ctx context.Context, in *inCall) (wire.StoredCall, error) {
	return answer(ctx, s.Flows.WithdrawCorrection, ops.Withdraw{ToolRef: in.ref(), Key: in.Call}, foundCall)
}

// listCorrections lists the calls whose verdict a person corrected, labelled.
//
// JSON-lines that `memoryd evaluate` reads; `metadata.gold` is the person's verdict.
func (s *server) listCorrections(ctx context.Context, in *inWorkspace) (lines[wire.CallRequest], error) {
	return answer(ctx, s.Flows.ListCorrections, ops.ListCorrections{Workspace: string(in.Workspace)},
		func(found ops.Corrections) lines[wire.CallRequest] { return found })
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

// snapshotRequest asks for a copy.
type snapshotRequest struct {
	Body wire.SnapshotRequest `body:"optional"`
}

// takeSnapshot copies a workspace, or the whole store, while it is used.
//
// Versioned JSON-lines as `memoryd export` writes and `memoryd restore` reads them. Each tool is copied as it was at one moment; the
// last line counts what came before, so that a copy that was cut off can be recognised.
func (s *server) takeSnapshot(ctx context.Context, in *snapshotRequest) (out lines[map[string]any], err error) {
	workspace := or(in.Body.Workspace, "")
	if workspace != "" {
		workspace = workspaceOf(ctx, workspace)
	} else if err := everywhere(ctx); err != nil {
		return nil, err
	}
	return answer(ctx, s.Flows.Snapshot, ops.TakeSnapshot{Workspace: workspace}, func(x ops.Snapshot) lines[map[string]any] { return x })
}

// listWorkspaces lists the workspaces that something is recorded in, in byte order.
func (s *server) listWorkspaces(ctx context.Context, in *inPage) (wire.WorkspaceList, error) {
	wanted := ops.ListWorkspaces{After: string(in.Cursor), Limit: in.Limit, Only: access.Of(ctx).Workspaces}
	return answer(ctx, s.Flows.ListWorkspaces, wanted, func(p ops.WorkspacePage) wire.WorkspaceList {
		return wire.WorkspaceList{Workspaces: p.Names, NextCursor: cursorAfter(p.Next)}
	})
}

// toolsQuery asks for tools.
type toolsQuery struct {
	inWorkspace

	// Only the tool of exactly this name.
	Name string `query:"name"`
	// Only tools whose name or guideline holds a word of this text, the best first (one page). With `name` it is not looked at.
	Query string `query:"query"`
	inPage
}

// listTools lists the tools of a workspace with their statistics.
//
// In byte order of their names; `name` picks one, `query` searches. A workspace that nothing is recorded in is 404, a search that finds
// nothing an empty list.
func (s *server) listTools(ctx context.Context, in *toolsQuery) (wire.ToolList, error) {
	wanted := ops.ListTools{Workspace: string(in.Workspace), Name: in.Name, Query: in.Query, After: string(in.Cursor), Limit: in.Limit}
	return answer(ctx, s.Flows.ListTools, wanted, func(p ops.ToolPage) wire.ToolList {
		return wire.ToolList{Tools: each(p.Tools, toolInfoOf), NextCursor: cursorAfter(p.Next)}
	})
}

// getTool shows a tool with its statistics.
//
// By its exact name. 404 where the workspace, or the tool in it, is not known.
func (s *server) getTool(ctx context.Context, in *inTool) (out wire.ToolInfo, err error) {
	p, err := s.Flows.ListTools.Run(ctx, ops.ListTools{Workspace: string(in.Workspace), Name: in.Tool})
	if err == nil && len(p.Tools) == 0 {
		err = memoryd.Errorf(memoryd.NotFound, "the workspace has no tool %q", in.Tool)
	}
	if err != nil {
		return out, err
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

// listKinds lists the kinds of a tool's outputs.
//
// A kind is an output without its data. Kinds that the judge is unsure of come first, then those with most calls. At most 500 kinds, of
// the newest 20,000 calls.
func (s *server) listKinds(ctx context.Context, in *inTool) (KindList, error) {
	return answer(ctx, s.Flows.ListKinds, in.ref(), func(found []ops.OutputKind) KindList {
		return KindList{each(found, func(k ops.OutputKind) OutputKind { return OutputKind{k, storedCallOf(&k.Example, 0)} })}
	})
}

// KindList has the kinds of a tool's outputs.
type KindList struct {
	Kinds []OutputKind `json:"kinds"`
}

// OutputKind is a kind of output with its newest call.
type OutputKind struct {
	ops.OutputKind

	Example wire.StoredCall `json:"example"`
}

// kindLabel is a person's verdict on a kind.
type kindLabel struct {
	inTool

	Kind string `path:"kind" pattern:"^[0-9a-f]{16}$"` // The id of the kind.
	Body wire.Label
}

// putKind scores all outputs of a kind.
//
// The score holds for the kept calls of the kind and for those to come, as far as exit codes, error flags and the caller's own report
// allow. A correction of a single call stays. `preview` changes nothing; `withdraw` takes the score back.
func (s *server) putKind(ctx context.Context, in *kindLabel) (out ops.LabelledKind, err error) {
	req := &in.Body
	label := ops.LabelKind{
		ToolRef: in.ref(), Kind: in.Kind, Withdraw: or(req.Withdraw, false), Preview: or(req.Preview, false),
		Correction: ops.Correction{Score: or(req.Score, 0), Evaluation: or(req.Evaluation, ""), By: or(req.By, "")},
	}
	if req.Score == nil && !label.Withdraw {
		return out, missing("score")
	}
	return s.Flows.LabelKind.Run(ctx, label)
}
