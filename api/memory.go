package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/internal/access"
	"memoryd/internal/origin"
	"memoryd/internal/stats"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// addition is a request to record calls.
type addition struct {
	// Identifies the request, so that items without create_time and tool_call_id are recognised when it is sent again.
	Key  string `header:"Idempotency-Key"`
	Body addRequest
}

// addToolCallResult records tool calls.
//
// Records the calls, judges them, and answers with the memories that they belong to. A call answered with success is
// durable, judged or not. Sending the same call again (same tool, input, output, create_time and metadata.tool_call_id,
// or the same Idempotency-Key) counts it once.
func (s *server) addToolCallResult(ctx context.Context, in *addition) (out wire.AddResponse, err error) {
	req := &in.Body
	if err := checkAdd(req); err != nil {
		return out, err
	}
	workspace, err := ownWorkspace(ctx, or(req.Workspace, ""))
	if err != nil {
		return out, err
	}
	reads := access.Of(ctx).May(access.Read)
	rec, err := s.Flows.AddToolCallResult.Run(ctx, ops.RecordRequest{
		Workspace: workspace, ToolName: or(req.ToolName, ""), RequestKey: requestKey(in.Key), Items: req.Items.list,
		Async: or(req.Async, false), WholeHistory: or(req.IncludeHistory, !or(req.Async, false)) && reads,
	})
	only := or(req.OnlyVerdicts, false)
	if refusal, ok := errors.AsType[*ops.Refusal](err); ok && len(refusal.Rejected) > 0 {
		rec = &ops.Recorded{Sent: len(req.Items.list), Rejected: refusal.Rejected}
		return wire.AddResponse{Reply: wire.Reply{Answer: refusal.Answer}, Metadata: addMetadata(rec, req.Items.ignored)}, nil
	}
	if err != nil {
		return out, err
	}
	for i := range rec.Memories {
		if !reads { // it is told of its own calls
			rec.Memories[i].Tool.Guideline, rec.Memories[i].Statistics = memoryd.Guideline{}, stats.Statistics{}
		}
		if only {
			rec.Memories[i].Calls = nil
		}
	}
	meta := addMetadata(rec, req.Items.ignored)
	for i := range rec.Calls {
		if e := &rec.Calls[i].Evaluation; only {
			meta.Verdicts = append(meta.Verdicts, wire.Verdict{
				CallID: rec.Calls[i].Key.String(), State: string(e.State), Score: wire.Float(e.Score), Summary: e.Summary,
			})
		}
	}
	return wire.AddResponse{Reply: wire.Reply{Answer: rec.Answer, Success: true}, Metadata: meta}, nil
}

func checkAdd(req *addRequest) error {
	return cmp.Or(checkNewName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"))
}

// requestKey is the client's Idempotency-Key, or a key of the request's own.
func requestKey(given string) string {
	if given != "" {
		return "client:" + given
	}
	return "server:" + uuid.NewString()
}

func addMetadata(r *ops.Recorded, ignored map[string]int) *wire.AddMetadata {
	meta := &wire.AddMetadata{
		MemoryList:         each(r.Memories, memoryOf),
		UpdateResult:       wire.UpdateResult{DeletedCount: len(r.Existed), InsertedCount: len(r.Memories)},
		ValidationStats:    wire.ValidationStats{TotalInput: r.Sent, Valid: r.Valid, Filtered: len(r.Rejected)},
		DeduplicationStats: wire.DeduplicationStats{TotalNew: r.Valid, Deduplicated: r.Valid - r.Added, Added: r.Added},
		IgnoredFields:      ignored,
		Rejected:           each(r.Rejected, func(x ops.Rejection) wire.Rejection { return wire.Rejection(x) }),
	}
	for _, ref := range r.Existed {
		at := slices.IndexFunc(r.Memories, func(m ops.Memory) bool { return m.Tool.ToolRef == ref })
		meta.DeletedMemoryIDs = append(meta.DeletedMemoryIDs, meta.MemoryList[at].MemoryID)
	}
	return meta
}

// summaryToolMemory writes the guidelines of tools.
//
// Writes a guideline for each named tool from its history. A tool to which nothing happened since its guideline is skipped,
// unless `force` is set; one whose synthesis fails keeps the guideline it has and is named in `metadata.failed`.
func (s *server) summaryToolMemory(ctx context.Context, req *wire.SummaryRequest) (out wire.NamesResponse, err error) {
	names, err := s.namesOf(ctx, &wire.RetrieveRequest{Workspace: req.Workspace, ToolNames: req.ToolNames})
	if err != nil {
		return out, err
	}
	names.Force, names.Stale = or(req.Force, false), or(req.Stale, false)
	sum, err := s.Flows.SummaryToolMemory.Run(ctx, names)
	if err != nil {
		return out, err
	}
	meta := wire.NamesMetadata{
		MemoryList: each(sum.Memories, memoryOf), UnknownToolNames: sum.Unknown, Summarised: sum.Summarised, Skipped: sum.Skipped,
	}
	meta.DeletedMemoryIDs = each(meta.MemoryList, func(m wire.Memory) string { return m.MemoryID })
	n := len(meta.MemoryList)
	meta.UpdateResult = &wire.UpdateResult{DeletedCount: n, InsertedCount: n}
	meta.Failed = each(sum.Failed, func(f ops.Failure) wire.Failure { return wire.Failure{ToolName: f.Tool, Reason: f.Reason} })
	return wire.NamesResponse{Reply: wire.Reply{Answer: sum.Answer, Success: sum.Success}, Metadata: meta}, nil
}

// retrieveToolMemory fetches the guidelines of tools.
//
// Answers with the guidelines, statistics and, if wanted, the calls of the named tools, in the order asked. No model is asked.
func (s *server) retrieveToolMemory(c echo.Context, body []byte) (v any, err error) {
	// A guideline without calls is asked for before each call of an agent. One that was asked for
	// before waits for no turn among requests that compute: it stands in memory.
	ctx := c.Request().Context()
	known, again := s.answers.Get(string(body)) // though the answer may be an old one
	names := known.names
	if again {
		names.Workspace = workspaceOf(ctx, known.workspace)
		if names.Workspace == known.names.Workspace && known.answer.Holds(ctx) {
			return known.encoded, nil
		}
	} else {
		var req wire.RetrieveRequest
		if err := s.decode(body, &req); err != nil {
			return nil, err
		}
		if names, err = s.namesOf(ctx, &req); err != nil {
			return nil, err
		}
		known.workspace = or(req.Workspace, "")
	}
	known.names = names
	waited := s.turn(c, names.Workspace, !again, func() { v, err = s.retrieve(c, body, known) })
	return v, cmp.Or(waited, err)
}

func (s *server) retrieve(c echo.Context, body []byte, known remembered) (any, error) {
	names := known.names
	got, err := s.Flows.RetrieveToolMemory.Run(c.Request().Context(), names)
	if err != nil {
		return nil, err
	}
	found := wire.NamesResponse{
		Reply: wire.Reply{Answer: got.Answer(), Success: true}, Metadata: wire.NamesMetadata{
			MemoryList:       each(got.Memories, memoryOf),
			UnknownToolNames: got.Unknown,
		},
	}
	e, err := encode(found)
	if err != nil || names.WholeHistory || names.RecentCalls > 0 || len(got.Unknown) > 0 {
		return e, err
	}
	known.encoded, known.answer = e.tagged(), got
	s.keep(body, known)
	return known.encoded, nil
}

// namesOf reads what is asked of which tools.
func (s *server) namesOf(ctx context.Context, req *wire.RetrieveRequest) (n ops.NamesRequest, err error) {
	if err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.Session, "session_id")); err != nil {
		return n, err
	}
	n = ops.NamesRequest{
		Workspace: workspaceOf(ctx, or(req.Workspace, "")), Session: or(req.Session, ""),
	}
	if n.Tools, err = s.toolNames(req.ToolNames); err != nil {
		return n, err
	}
	if n.MaxTokens, err = count(req.MaxTokens, "max_tokens"); err != nil {
		return n, err
	}
	for _, name := range req.Sections {
		if !slices.Contains(ops.Sections(), name) {
			return n, invalid("enum", "Input should be the heading of a section", []byte(strconv.Quote(name)), "sections")
		}
	}
	n.Sections = req.Sections
	n.RecentCalls, err = count(req.IncludeCalls, "include_calls")
	n.WholeHistory = or(req.IncludeHistory, true) && n.RecentCalls == 0
	return n, err
}

// preflightToolCall says what is known about a call before it is made.
//
// No model is asked.
func (s *server) preflightToolCall(ctx context.Context, req *wire.PreflightRequest) (out wire.PreflightResponse, err error) {
	err = cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"), checkInput(&req.Input),
		checkName(req.Trajectory, "trajectory_id"), checkName(req.Session, "session_id"), checkName(req.Agent, "agent_id"))
	if err == nil && *req.ToolName == "" {
		err = &ops.Refusal{Answer: "tool_name is required"}
	}
	if err != nil {
		return out, err
	}
	return answer(ctx, s.Flows.PreflightToolCall, ops.PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: workspaceOf(ctx, or(req.Workspace, "")), Tool: *req.ToolName}, Input: []byte(req.Input),
		By: ops.Caller{Run: or(req.Trajectory, ""), Session: or(req.Session, "")},
	}, func(forecast *ops.Forecast) wire.PreflightResponse {
		f := forecastOf(forecast)
		return wire.PreflightResponse{Reply: wire.Reply{Answer: sentenceOf(forecast), Success: true}, Metadata: f, Forecast: f}
	})
}

// checkInput holds the input of a planned call to what a recorded one may be.
func checkInput(v *jsontext.Value) error {
	switch {
	case *v == nil:
		*v = jsontext.Value(`""`)
	case v.Kind() != '{' && v.Kind() != '"':
		return invalid("string_or_dict_type", "Input should be a valid object or string", *v, "input")
	case memoryd.JSONDepth(*v) > memoryd.MaxJSONDepth:
		return invalid("too_deep", fmt.Sprintf("nested deeper than %d levels", memoryd.MaxJSONDepth), nil, "input")
	}
	return nil
}

func forecastOf(f *ops.Forecast) wire.Forecast {
	a := &f.Assessment
	out := wire.Forecast{
		Risk: a.Risk, BaseRate: a.BaseRate, JudgedCalls: a.Judged, ExpectedTimeCost: a.ExpectedTimeCost, Suggestion: a.Suggestion,
		SimilarCalls: wire.SimilarCalls{Good: each(a.SimilarGood, similarOf), Bad: each(a.SimilarBad, similarOf)},
	}
	if a.Risk != nil {
		out.RiskCI95 = &a.RiskCI95
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, wire.Warning{
			Text: w.Text, Severity: string(w.Severity), Evidence: []string{w.Rule}, Calls: each(w.Calls, memoryd.CallKey.String),
		})
	}
	return out
}

func similarOf(s ops.SimilarCall) wire.SimilarCall {
	return wire.SimilarCall{
		CallID: s.Call.String(), Similarity: s.Similarity, Score: s.Score, Input: s.Input, Summary: s.Summary, Untrusted: true,
	}
}

// sentenceOf says the forecast in words.
func sentenceOf(f *ops.Forecast) string {
	a := &f.Assessment
	var s strings.Builder
	if a.Risk == nil {
		fmt.Fprintf(&s, "No judged calls of %s yet.", f.Tool)
	}
	if len(f.Nearest) > 0 {
		fmt.Fprintf(&s, " Known tools of similar names: %s.", strings.Join(each(f.Nearest, origin.Title), ", "))
	}
	if a.Risk != nil {
		fmt.Fprintf(&s, "Risk of failure %.0f %% (95 %% interval %.0f to %.0f %%), against %.0f %% over %d judged calls.",
			100**a.Risk, 100*a.RiskCI95[0], 100*a.RiskCI95[1], 100*a.BaseRate, a.Judged)
	}
	for _, w := range a.Warnings {
		s.WriteString("\n- " + w.Text)
	}
	if a.Suggestion != nil {
		s.WriteString("\nSuggested input: " + string(a.Suggestion))
	}
	return s.String()
}

// vectorStore lists, removes, copies, dumps and loads whole tool memories.
//
// `list`, `delete`, `delete_ids`, `copy`, `dump` and `load`; the result is in `metadata.action_result`.
func (s *server) vectorStore(ctx context.Context, req *wire.StoreRequest) (out wire.StoreResponse, err error) {
	checkTarget := checkName
	if *req.Action == "copy" || *req.Action == "load" {
		checkTarget = checkNewName
	}
	if err := cmp.Or(checkTarget(req.Workspace, "workspace_id"), checkName(req.Action, "action"),
		checkName(req.Source, "src_workspace_id"), checkName(req.Path, "path")); err != nil {
		return out, err
	}
	in := ops.ManageRequest{
		Workspace: workspaceOf(ctx, or(req.Workspace, "")), Action: *req.Action, Source: or(req.Source, ""),
		Path: or(req.Path, ""), MemoryIDs: req.MemoryIDs,
	}
	if err := manages(ctx, &in); err != nil {
		return out, err
	}
	return answer(ctx, s.Flows.VectorStore, in, func(done *ops.Managed) wire.StoreResponse {
		return wire.StoreResponse{
			Reply:    wire.Reply{Answer: done.Answer, Success: true},
			Metadata: wire.StoreMetadata{ActionResult: actionResult(in.Action, done)},
		}
	})
}

// inSource names a source of calls in a workspace.
type inSource struct {
	inWorkspace

	Source string `path:"source"` // The id of the key.
}

// forgetSource cuts out what a source wrote.
//
// Removes the calls of the workspace that the API key recorded (`local`: those recorded without one), with their bytes. The tools that
// it touched lose the versions of their guidelines and decisions on them; their guidelines are withdrawn first, and written again from
// what is left: what was observed of other sources beyond the histories stays. A tool without other calls is gone. After an error, a
// retry continues.
func (s *server) forgetSource(ctx context.Context, in *inSource) (wire.Forgotten, error) {
	wanted := ops.ManageRequest{Workspace: string(in.Workspace), Action: ops.Forget, Source: in.Source}
	return answer(ctx, s.Flows.VectorStore, wanted, func(done *ops.Managed) wire.Forgotten { return wire.Forgotten{Calls: done.Size} })
}

// manages refuses what a caller may not do with whole memories: all but listing is
// an admin's, and a key that is bound to workspaces moves them within those.
func manages(ctx context.Context, r *ops.ManageRequest) error {
	if !r.Moves() {
		return nil
	}
	if !access.Of(ctx).May(access.Admin) {
		return tooSmall(access.Admin)
	}
	if access.Of(ctx).Everywhere() {
		return nil
	}
	if r.Source != "" {
		r.Source = workspaceOf(ctx, r.Source)
	}
	if r.Path != "" && (r.Action == "dump" || r.Action == "load") {
		return memoryd.Errorf(memoryd.Forbidden, "path: a key that is bound to workspaces dumps and loads them under their own names")
	}
	_, err := ownWorkspace(ctx, r.Workspace)
	return err
}

// actionResult is what the clients of the endpoint expect of each action.
func actionResult(action string, a *ops.Managed) any {
	switch action {
	case "list":
		return each(a.Memories, memoryOf)
	case "copy", "dump", "load":
		return wire.Size{Size: a.Size}
	}
	return fmt.Sprintf("%d tool memory(ies) deleted", a.Size)
}
