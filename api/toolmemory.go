package api

import (
	"cmp"
	"errors"

	"memoryd/api/wire"
	"memoryd/ops"

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

func (s *server) addToolCallResult(c echo.Context, body []byte) (any, error) {
	var req wire.AddRequest[items]
	err := s.decode(body, &req)
	if err == nil {
		err = checkAdd(&req)
	}
	if err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Record: ops.Record{
		ToolName: or(req.ToolName, ""), RequestKey: requestKey(c), Items: req.Items.list,
		Async: or(req.Async, false), WholeHistory: or(req.IncludeHistory, true),
	}}
	err = s.Flows[FlowAdd].Run(c.Request().Context(), st)
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

func (s *server) summaryToolMemory(c echo.Context, body []byte) (any, error) {
	return s.aboutNames(c, body, FlowSummary)
}

func (s *server) retrieveToolMemory(c echo.Context, body []byte) (any, error) {
	return s.aboutNames(c, body, FlowRetrieve)
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

func (s *server) aboutNames(c echo.Context, body []byte, flow string) (any, error) {
	var req wire.NamesRequest
	if err := s.decode(body, &req); err != nil {
		return nil, err
	}
	names, err := s.namesOf(&req)
	if err != nil {
		return nil, err
	}
	st := &ops.State{Workspace: workspaceOf(req.Workspace), Names: names}
	if err := s.Flows[flow].Run(c.Request().Context(), st); err != nil {
		return nil, err
	}
	// A guideline without calls is asked for before each call of an agent.
	again := flow == FlowRetrieve && !st.Names.WholeHistory && st.Names.RecentCalls == 0 && len(st.Result.Unknown) == 0
	if again {
		if known, ok := s.answers.find(body, &st.Result); ok {
			return known, nil
		}
	}
	meta := wire.NamesMetadata{
		MemoryList: memoriesOf(st.Result.Memories), UnknownToolNames: st.Result.Unknown,
		Summarised: st.Result.Summarised, Skipped: st.Result.Skipped,
	}
	for _, f := range st.Result.Failed {
		meta.Failed = append(meta.Failed, wire.Failure{ToolName: f.Tool, Reason: f.Reason})
	}
	answer := wire.Response{Answer: st.Result.Answer, Success: st.Result.Success, Metadata: meta}
	if !again {
		return answer, nil
	}
	e, err := encode(answer)
	if err != nil {
		return nil, err
	}
	e = e.tagged()
	s.answers.keep(body, &st.Result, e)
	return e, nil
}
