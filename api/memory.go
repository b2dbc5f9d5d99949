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

func (s *server) addToolCallResult(c echo.Context, req *addRequest) (any, error) {
	if err := checkAdd(req); err != nil {
		return nil, err
	}
	workspace, err := ownWorkspace(c.Request().Context(), or(req.Workspace, ""))
	if err != nil {
		return nil, err
	}
	reads := access.Of(c.Request().Context()).May(access.Read)
	rec, err := s.Flows.AddToolCallResult.Run(c.Request().Context(), ops.RecordRequest{
		Workspace: workspace, ToolName: or(req.ToolName, ""), RequestKey: requestKey(c), Items: req.Items.list,
		Async: or(req.Async, false), WholeHistory: or(req.IncludeHistory, !or(req.Async, false)) && reads,
	})
	only := or(req.OnlyVerdicts, false)
	if refusal, ok := errors.AsType[*ops.Refusal](err); ok && len(refusal.Rejected) > 0 {
		rec = &ops.Recorded{Sent: len(req.Items.list), Rejected: refusal.Rejected}
		return wire.Response{Answer: refusal.Answer, Metadata: addMetadata(rec, req.Items.ignored)}, nil
	}
	if err != nil {
		return nil, err
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
			meta.Verdicts = append(meta.Verdicts, wire.Verdict{CallID: rec.Calls[i].Key.String(), State: string(e.State), Score: wire.Float(e.Score), Summary: e.Summary})
		}
	}
	return wire.Response{Answer: rec.Answer, Success: true, Metadata: meta}, nil
}

func checkAdd(req *addRequest) error {
	if req.Items.list == nil {
		return missing("tool_call_results")
	}
	return cmp.Or(checkNewName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"))
}

// requestKey is the client's Idempotency-Key, or a key of the request's own.
func requestKey(c echo.Context) string {
	if key := c.Request().Header.Get("Idempotency-Key"); key != "" {
		return "client:" + key
	}
	return "server:" + uuid.NewString()
}

func addMetadata(r *ops.Recorded, ignored map[string]int) *wire.AddMetadata {
	meta := &wire.AddMetadata{
		MemoryList:         memoriesOf(r.Memories),
		UpdateResult:       wire.UpdateResult{DeletedCount: len(r.Existed), InsertedCount: len(r.Memories)},
		ValidationStats:    wire.ValidationStats{TotalInput: r.Sent, Valid: r.Valid, Filtered: len(r.Rejected)},
		DeduplicationStats: wire.DeduplicationStats{TotalNew: r.Valid, Deduplicated: r.Valid - r.Added, Added: r.Added},
		IgnoredFields:      ignored,
	}
	for _, ref := range r.Existed {
		at := slices.IndexFunc(r.Memories, func(m ops.Memory) bool { return m.Tool.ToolRef == ref })
		meta.DeletedMemoryIDs = append(meta.DeletedMemoryIDs, meta.MemoryList[at].MemoryID)
	}
	for _, rejected := range r.Rejected {
		meta.Rejected = append(meta.Rejected, wire.Rejection{Index: rejected.Index, Reason: rejected.Reason})
	}
	return meta
}

func (s *server) summaryToolMemory(c echo.Context, req *wire.NamesRequest) (any, error) {
	names, err := s.namesOf(c.Request().Context(), req)
	if err != nil {
		return nil, err
	}
	sum, err := s.Flows.SummaryToolMemory.Run(c.Request().Context(), names)
	if err != nil {
		return nil, err
	}
	meta := wire.NamesMetadata{
		MemoryList: memoriesOf(sum.Memories), UnknownToolNames: sum.Unknown, Summarised: sum.Summarised, Skipped: sum.Skipped,
	}
	meta.DeletedMemoryIDs = []string{}
	for _, m := range meta.MemoryList {
		meta.DeletedMemoryIDs = append(meta.DeletedMemoryIDs, m.MemoryID)
	}
	n := len(meta.MemoryList)
	meta.UpdateResult = &wire.UpdateResult{DeletedCount: n, InsertedCount: n}
	for _, f := range sum.Failed {
		meta.Failed = append(meta.Failed, wire.Failure{ToolName: f.Tool, Reason: f.Reason})
	}
	return wire.Response{Answer: sum.Answer, Success: sum.Success, Metadata: meta}, nil
}

// retrieveToolMemory remembers answers: a guideline without calls is asked for
// before each call of an agent. One that was asked for before waits for no turn
// among requests that compute: it stands in memory.
func (s *server) retrieveToolMemory(c echo.Context, body []byte) (v any, err error) {
	known, again := s.answers.find(body)
	if !again {
		known.request = new(wire.NamesRequest)
		if err := s.decode(body, known.request); err != nil {
			return nil, err
		}
	}
	names, err := s.namesOf(c.Request().Context(), known.request)
	if err != nil {
		return nil, err
	}
	waited := s.turn(c, names.Workspace, !again, func() { v, err = s.retrieve(c, body, names, known) })
	return v, cmp.Or(waited, err)
}

func (s *server) retrieve(c echo.Context, body []byte, names ops.NamesRequest, known remembered) (any, error) {
	got, err := s.Flows.RetrieveToolMemory.Run(c.Request().Context(), names)
	if err != nil {
		return nil, err
	}
	again := !names.WholeHistory && names.RecentCalls == 0 && len(got.Unknown) == 0
	if again && known.answers(got) {
		return known.encoded, nil
	}
	found := wire.Response{
		Answer: got.Answer(), Success: true, Metadata: wire.NamesMetadata{MemoryList: memoriesOf(got.Memories), UnknownToolNames: got.Unknown},
	}
	if !again {
		return encodeOnce(found)
	}
	e, err := encode(found)
	if err != nil {
		return nil, err
	}
	known.encoded, known.memories = e.tagged(), slices.Clone(got.Memories)
	s.answers.keep(body, known)
	return known.encoded, nil
}

// namesOf reads what is asked of which tools.
func (s *server) namesOf(ctx context.Context, req *wire.NamesRequest) (n ops.NamesRequest, err error) {
	if err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.Session, "session_id")); err != nil {
		return n, err
	}
	n = ops.NamesRequest{
		Workspace: workspaceOf(ctx, or(req.Workspace, "")), Force: or(req.Force, false), Stale: or(req.Stale, false), Session: or(req.Session, ""),
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

func (s *server) preflightToolCall(c echo.Context, req *wire.PreflightRequest) (any, error) {
	err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"), checkInput(&req.Input),
		checkName(req.Trajectory, "trajectory_id"), checkName(req.Session, "session_id"), checkName(req.Agent, "agent_id"))
	switch {
	case err != nil:
		return nil, err
	case req.ToolName == nil:
		return nil, missing("tool_name")
	case *req.ToolName == "":
		return nil, &ops.Refusal{Answer: "tool_name is required"}
	}
	forecast, err := s.Flows.PreflightToolCall.Run(c.Request().Context(), ops.PreflightRequest{
		ToolRef: memoryd.ToolRef{Workspace: workspaceOf(c.Request().Context(), or(req.Workspace, "")), Tool: *req.ToolName}, Input: []byte(req.Input),
		By: ops.Caller{Run: or(req.Trajectory, ""), Session: or(req.Session, "")},
	})
	if err != nil {
		return nil, err
	}
	f := forecastOf(forecast)
	return wire.PreflightResponse{
		Response: wire.Response{Answer: sentenceOf(forecast), Success: true, Metadata: f}, Forecast: f,
	}, nil
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
		Risk: a.Risk, BaseRate: a.BaseRate, JudgedCalls: a.Judged, ExpectedTimeCost: a.ExpectedTimeCost,
		Suggestion: a.Suggestion, Warnings: []wire.Warning{}, SimilarCalls: wire.SimilarCalls{Good: similarOf(a.SimilarGood), Bad: similarOf(a.SimilarBad)},
	}
	if a.Risk != nil {
		out.RiskCI95 = &a.RiskCI95
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, wire.Warning{
			Text: w.Text, Severity: string(w.Severity), Evidence: []string{w.Rule}, Calls: idsOf(w.Calls),
		})
	}
	return out
}

func similarOf(list []ops.SimilarCall) []wire.SimilarCall {
	out := make([]wire.SimilarCall, len(list))
	for i, s := range list {
		out[i] = wire.SimilarCall{CallID: s.Call.String(), Similarity: s.Similarity, Score: s.Score, Input: s.Input, Summary: s.Summary, Untrusted: true}
	}
	return out
}

func idsOf(keys []memoryd.CallKey) []string {
	ids := make([]string, len(keys))
	for i, k := range keys {
		ids[i] = k.String()
	}
	return ids
}

// sentenceOf says the forecast in words.
func sentenceOf(f *ops.Forecast) string {
	a := &f.Assessment
	var s strings.Builder
	if a.Risk == nil {
		fmt.Fprintf(&s, "No judged calls of %s yet.", f.Tool)
	}
	if len(f.Nearest) > 0 {
		names := slices.Clone(f.Nearest)
		for i := range names {
			names[i] = origin.Title(names[i])
		}
		fmt.Fprintf(&s, " Known tools of similar names: %s.", strings.Join(names, ", "))
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

func (s *server) vectorStore(c echo.Context, req *wire.StoreRequest) (any, error) {
	if req.Action == nil {
		return nil, missing("action")
	}
	checkTarget := checkName
	if *req.Action == "copy" || *req.Action == "load" {
		checkTarget = checkNewName
	}
	if err := cmp.Or(checkTarget(req.Workspace, "workspace_id"), checkName(req.Action, "action"),
		checkName(req.Source, "src_workspace_id"), checkName(req.Path, "path")); err != nil {
		return nil, err
	}
	in := ops.ManageRequest{
		Workspace: workspaceOf(c.Request().Context(), or(req.Workspace, "")), Action: *req.Action, Source: or(req.Source, ""), Path: or(req.Path, ""), MemoryIDs: req.MemoryIDs,
	}
	if err := manages(c.Request().Context(), &in); err != nil {
		return nil, err
	}
	done, err := s.Flows.VectorStore.Run(c.Request().Context(), in)
	if err != nil {
		return nil, err
	}
	return wire.Response{
		Answer: done.Answer, Success: true, Metadata: wire.StoreMetadata{ActionResult: actionResult(*req.Action, done)},
	}, nil
}

// forgetSource cuts out what a key wrote in a workspace.
func (s *server) forgetSource(c echo.Context, _ []byte) (any, error) {
	q := queryOf(c)
	in := ops.ManageRequest{Workspace: q.workspace(), Action: ops.Forget, Source: q.path("source")}
	return answer(q, s.Flows.VectorStore, in, func(done *ops.Managed) any { return wire.Forgotten{Calls: done.Size} })
}

// manages refuses what a caller may not do with whole memories: all but listing is
// an admin's, and a key that is bound to workspaces moves them within those.
func manages(ctx context.Context, r *ops.ManageRequest) error {
	if !r.Moves() {
		return nil
	}
	if err := need(ctx, access.Admin); err != nil {
		return err
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
		return memoriesOf(a.Memories)
	case "copy", "dump", "load":
		return wire.Size{Size: a.Size}
	}
	return fmt.Sprintf("%d tool memory(ies) deleted", a.Size)
}
