package wire

import "github.com/go-json-experiment/json/jsontext"

// The requests. A member that may be left out is a pointer, nil where it was.

// AddRequest is the body of add_tool_call_result. Items is the type of the calls: the server reads
// them one by one, and clients send JSON.
type AddRequest[Items any] struct {
	Workspace      *string `json:"workspace_id,omitzero"`
	ToolName       *string `json:"tool_name,omitzero"` // for items without one
	Items          Items   `json:"tool_call_results"`
	Async          *bool   `json:"async,omitzero"`           // answer as soon as the calls are saved
	IncludeHistory *bool   `json:"include_history,omitzero"` // default true
	OnlyVerdicts   *bool   `json:"only_verdicts,omitzero"`   // return the verdicts of the items instead of calls
}

// NamesRequest is the body of summary_tool_memory and retrieve_tool_memory.
type NamesRequest struct {
	Workspace      *string        `json:"workspace_id,omitzero"`
	ToolNames      jsontext.Value `json:"tool_names"` // a comma-separated text, or an array
	Force          *bool          `json:"force,omitzero"`
	Stale          *bool          `json:"stale,omitzero"`
	Session        *string        `json:"session_id,omitzero"`
	MaxTokens      *int64         `json:"max_tokens,omitzero"`
	IncludeHistory *bool          `json:"include_history,omitzero"` // default true
	IncludeCalls   *int64         `json:"include_calls,omitzero"`
	Sections       []string       `json:"sections,omitzero"` // of guidelines; default all
}

// StoreRequest is the body of vector_store.
type StoreRequest struct {
	Workspace *string  `json:"workspace_id,omitzero"`
	Action    *string  `json:"action"`
	Source    *string  `json:"src_workspace_id,omitzero"`
	Path      *string  `json:"path,omitzero"`
	MemoryIDs []string `json:"memory_ids,omitzero"`
}

// SnapshotRequest is the body of a request for a backup.
type SnapshotRequest struct {
	Workspace *string `json:"workspace_id,omitzero"` // default all
}

// PreflightRequest is the body of preflight_tool_call.
type PreflightRequest struct {
	Workspace *string        `json:"workspace_id,omitzero"`
	ToolName  *string        `json:"tool_name"`
	Input     jsontext.Value `json:"input,omitzero"` // an object or a string
	// The run of the call: the trajectory, otherwise the session; and the agent.
	Trajectory *string `json:"trajectory_id,omitzero"`
	Session    *string `json:"session_id,omitzero"`
	Agent      *string `json:"agent_id,omitzero"`
}

// CompactRequest is the body of compact_conversation.
type CompactRequest struct {
	Messages       []jsontext.Value `json:"messages"`
	Workspace      *string          `json:"workspace_id,omitzero"`
	Conversation   *string          `json:"conversation_id,omitzero"`
	Model          *string          `json:"model,omitzero"`
	MaxInputTokens *int64           `json:"max_input_tokens,omitzero"`
	TargetTokens   *int64           `json:"target_tokens,omitzero"`
	Tools          jsontext.Value   `json:"tools,omitzero"`
	ReportedTokens *int64           `json:"reported_tokens,omitzero"`
	Profile        *string          `json:"profile,omitzero"`
	Overrides      jsontext.Value   `json:"overrides,omitzero"`
	Pins           []int64          `json:"pins,omitzero"`
	Force          *bool            `json:"force,omitzero"`
	DryRun         *bool            `json:"dry_run,omitzero"`
	// Settings are the other members: settings of the profile, if their names match.
	Settings jsontext.Value `json:",embed"`
}

// UndoRequest is the body of a request to undo a compaction.
type UndoRequest struct {
	Messages []jsontext.Value `json:"messages,omitzero"` // of the conversation as it is now
}

// CorrectionRequest is a person's verdict on a call.
type CorrectionRequest struct {
	Score      *float64 `json:"score"` // 0, 0.5 or 1
	Summary    *string  `json:"summary,omitzero"`
	Evaluation *string  `json:"evaluation,omitzero"`
	By         *string  `json:"by,omitzero"`
}

// RevisionRequest is the body of a decision on a guideline: "pin" a version, "roll_back" to one, or
// "unpin".
type RevisionRequest struct {
	Decision *string `json:"decision,omitzero"`
	Revision *int64  `json:"revision,omitzero"`
	By       *string `json:"by,omitzero"`
}
