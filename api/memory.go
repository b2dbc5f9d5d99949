package api

import (
	"cmp"
	"errors"
	"fmt"

	"memoryd"
	"memoryd/api/wire"
	"memoryd/ops"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/labstack/echo/v4"
)

// The flows that the tool-memory endpoints run, by the names that they have in
// the configuration. The endpoints have the same names.
const (
	FlowAdd      = "add_tool_call_result"
	FlowSummary  = "summary_tool_memory"
	FlowRetrieve = "retrieve_tool_memory"
	FlowCompact  = "compact_conversation"

	FlowPreflight   = "preflight_tool_call"
	FlowVectorStore = "vector_store"
)

// Flows lists the flows that New needs.
func Flows() []string {
	return []string{FlowAdd, FlowSummary, FlowRetrieve, FlowCompact, FlowPreflight, FlowVectorStore}
}

func (s *server) addToolCallResult(c echo.Context, req *wire.AddRequest[items]) (any, error) {
	if err := checkAdd(req); err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Record: ops.Record{
		ToolName: or(req.ToolName, ""), RequestKey: requestKey(c), Items: req.Items.list,
		Async: or(req.Async, false), WholeHistory: or(req.IncludeHistory, true),
	}}
	err := s.Flows[FlowAdd].Run(c.Request().Context(), st)
	if refusal, ok := errors.AsType[*ops.Refusal](err); ok && len(st.Record.Rejected) > 0 {
		return wire.Response{Answer: refusal.Answer, Metadata: addMetadata(st, req.Items.ignored)}, nil
	}
	if err != nil {
		return nil, err
	}
	return wire.Response{
		Answer: st.Result.Answer, Success: st.Result.Success, Metadata: addMetadata(st, req.Items.ignored),
	}, nil
}

func checkAdd(req *wire.AddRequest[items]) error {
	if req.Items.list == nil {
		return missing("tool_call_results")
	}
	return cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"))
}

// requestKey is the client's Idempotency-Key, or a key of the request's own.
func requestKey(c echo.Context) string {
	if key := c.Request().Header.Get("Idempotency-Key"); key != "" {
		return "client:" + key
	}
	return "server:" + uuid.NewString()
}

func addMetadata(st *ops.State, ignored map[string]int) wire.AddMetadata {
	r := &st.Record
	added := 0
	for _, a := range r.Appended {
		if a.New {
			added++
		}
	}
	meta := wire.AddMetadata{
		MemoryList:         memoriesOf(st.Result.Memories),
		UpdateResult:       wire.UpdateResult{DeletedCount: len(st.Result.Existed), InsertedCount: st.Result.Changed},
		ValidationStats:    wire.ValidationStats{TotalInput: len(r.Items), Valid: len(r.Calls), Filtered: len(r.Rejected)},
		DeduplicationStats: wire.DeduplicationStats{TotalNew: len(r.Calls), Deduplicated: len(r.Calls) - added, Added: added},
		IgnoredFields:      ignored,
	}
	for _, ref := range st.Result.Existed {
		meta.DeletedMemoryIDs = append(meta.DeletedMemoryIDs, ref.MemoryID())
	}
	for _, rejected := range r.Rejected {
		meta.Rejected = append(meta.Rejected, wire.Rejection{Index: rejected.Index, Reason: rejected.Reason})
	}
	return meta
}

func (s *server) summaryToolMemory(c echo.Context, req *wire.NamesRequest) (any, error) {
	st, err := s.about(c, req, FlowSummary)
	if err != nil {
		return nil, err
	}
	return namesAnswer(st), nil
}

// retrieveToolMemory remembers answers: a guideline without calls is asked for
// before each call of an agent.
func (s *server) retrieveToolMemory(c echo.Context, body []byte) (any, error) {
	var req wire.NamesRequest
	if err := s.decode(body, &req); err != nil {
		return nil, err
	}
	st, err := s.about(c, &req, FlowRetrieve)
	if err != nil {
		return nil, err
	}
	if st.Names.WholeHistory || st.Names.RecentCalls > 0 || len(st.Result.Unknown) > 0 {
		return namesAnswer(st), nil
	}
	if known, ok := s.answers.find(body, &st.Result); ok {
		return known, nil
	}
	e, err := encode(namesAnswer(st))
	if err != nil {
		return nil, err
	}
	e = e.tagged()
	s.answers.keep(body, &st.Result, e)
	return e, nil
}

// about runs a flow about named tools.
func (s *server) about(c echo.Context, req *wire.NamesRequest, flow string) (*ops.State, error) {
	names, err := s.namesOf(req)
	if err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Names: names}
	return st, s.Flows[flow].Run(c.Request().Context(), st)
}

// namesOf reads what is asked of which tools.
func (s *server) namesOf(req *wire.NamesRequest) (n ops.Names, err error) {
	if err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.Session, "session_id")); err != nil {
		return n, err
	}
	n = ops.Names{Force: or(req.Force, false), Stale: or(req.Stale, false), Session: or(req.Session, "")}
	if n.Tools, err = s.toolNames(req.ToolNames); err != nil {
		return n, err
	}
	if n.MaxTokens, err = count(req.MaxTokens, "max_tokens"); err != nil {
		return n, err
	}
	n.RecentCalls, err = count(req.IncludeCalls, "include_calls")
	n.WholeHistory = or(req.IncludeHistory, true) && n.RecentCalls == 0
	return n, err
}

func namesAnswer(st *ops.State) wire.Response {
	meta := wire.NamesMetadata{
		MemoryList: memoriesOf(st.Result.Memories), UnknownToolNames: st.Result.Unknown,
		Summarised: st.Result.Summarised, Skipped: st.Result.Skipped,
	}
	for _, f := range st.Result.Failed {
		meta.Failed = append(meta.Failed, wire.Failure{ToolName: f.Tool, Reason: f.Reason})
	}
	return wire.Response{Answer: st.Result.Answer, Success: st.Result.Success, Metadata: meta}
}

func (s *server) preflightToolCall(c echo.Context, req *wire.PreflightRequest) (any, error) {
	err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.ToolName, "tool_name"), checkInput(&req.Input))
	switch {
	case err != nil:
		return nil, err
	case req.ToolName == nil:
		return nil, missing("tool_name")
	case *req.ToolName == "":
		return nil, &ops.Refusal{Answer: "tool_name is required"}
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Forecast: ops.Forecast{Tool: *req.ToolName, Input: []byte(req.Input)}}
	if err := s.Flows[FlowPreflight].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	f := forecastOf(&st.Forecast)
	return wire.PreflightResponse{
		Response: wire.Response{Answer: sentenceOf(&st.Forecast), Success: true, Metadata: f}, Forecast: f,
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
		Risk: a.Risk, BaseRate: a.BaseRate, JudgedCalls: a.Judged, Borrowed: a.Borrowed, ExpectedTimeCost: a.ExpectedTimeCost,
		Warnings: []wire.Warning{}, SimilarCalls: wire.SimilarCalls{Good: similarOf(f.Good), Bad: similarOf(f.Bad)},
	}
	if a.Risk != nil {
		out.RiskCI95 = &a.RiskCI95
	}
	for _, w := range a.Warnings {
		out.Warnings = append(out.Warnings, wire.Warning{Text: w.Text, Evidence: append([]string{}, w.Evidence...), Calls: idsOf(w.Calls)})
	}
	return out
}

func similarOf(list []ops.SimilarCall) []wire.SimilarCall {
	out := make([]wire.SimilarCall, len(list))
	for i, s := range list {
		out[i] = wire.SimilarCall{CallID: s.Call.String(), Similarity: s.Similarity, Score: s.Score, Input: s.Input, Summary: s.Summary}
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
	if a.Risk == nil {
		return fmt.Sprintf("Nothing is known of %s: its history has no judged call.", f.Tool)
	}
	s := fmt.Sprintf("Risk of failure %.0f %% (95 %% interval %.0f to %.0f %%), against %.0f %% over %d judged calls.",
		100**a.Risk, 100*a.RiskCI95[0], 100*a.RiskCI95[1], 100*a.BaseRate, a.Judged)
	for _, w := range a.Warnings {
		s += "\n- " + w.Text
	}
	return s
}

func (s *server) vectorStore(c echo.Context, req *wire.StoreRequest) (any, error) {
	if req.Action == nil {
		return nil, missing("action")
	}
	if err := cmp.Or(checkName(req.Workspace, "workspace_id"), checkName(req.Action, "action"),
		checkName(req.Source, "src_workspace_id"), checkName(req.Path, "path")); err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), StoreAction: ops.StoreAction{
		Action: *req.Action, Source: or(req.Source, ""), Path: or(req.Path, ""), MemoryIDs: req.MemoryIDs,
	}}
	if err := s.Flows[FlowVectorStore].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	return wire.Response{
		Answer: st.Result.Answer, Success: true, Metadata: wire.StoreMetadata{ActionResult: actionResult(&st.StoreAction)},
	}, nil
}

// actionResult is what the clients of the endpoint expect of each action.
func actionResult(a *ops.StoreAction) any {
	switch a.Action {
	case "list":
		return memoriesOf(a.Memories)
	case "copy", "dump", "load":
		return wire.Size{Size: a.Size}
	}
	return fmt.Sprintf("%d tool memory(ies) deleted", a.Size)
}
