package wire

import "github.com/go-json-experiment/json/jsontext"

// The requests. A member that may be left out is a pointer, nil where it was.

// AddRequest is the body of add_tool_call_result. Items is the type of the calls: the server reads
// them one by one, and clients send JSON.
//
// Example:
//
//	{"workspace_id":"default","tool_call_results":[
//	  {"tool_name":"web_search","input":{"query":"go generics"},"output":"12 results","time_cost":0.8}]}
type AddRequest[Items any] struct {
	Workspace *string `json:"workspace_id,omitzero" as:"NewName"`
	ToolName  *string `json:"tool_name,omitzero" as:"Name"` // For items that name no tool.
	// An item that is not a call is rejected and reported; the others are recorded.
	Items Items `json:"tool_call_results"`
	// Answer as soon as the calls are saved, with the calls that are new and without statistics.
	Async          *bool `json:"async,omitzero" default:"false"`
	IncludeHistory *bool `json:"include_history,omitzero" default:"true"` // Show the kept calls; false: only those just sent.
	// Show no calls, but the verdict on each valid item, in order (`metadata.verdicts`).
	OnlyVerdicts *bool `json:"only_verdicts,omitzero" default:"false"`
}

// SummaryRequest is the body of summary_tool_memory.
//
// Example:
//
//	{"workspace_id":"default","tool_names":"web_search,fetch"}
type SummaryRequest struct {
	Workspace *string        `json:"workspace_id,omitzero" as:"Name"`
	ToolNames jsontext.Value `json:"tool_names" as:"ToolNames"`
	// Summarise also where nothing is new.
	Force *bool `json:"force,omitzero" default:"false"`
	// Summarise only where enough is new or something changed.
	Stale *bool `json:"stale,omitzero" default:"false"`
}

// RetrieveRequest is the body of retrieve_tool_memory.
//
// Example:
//
//	{"workspace_id":"default","tool_names":["web_search"],"max_tokens":300,"include_history":false}
type RetrieveRequest struct {
	Workspace *string        `json:"workspace_id,omitzero" as:"Name"`
	ToolNames jsontext.Value `json:"tool_names" as:"ToolNames"`
	// A budget for the answer's text, at four characters a token; 0 means none. The most valuable statements come first.
	MaxTokens *int64 `json:"max_tokens,omitzero" minimum:"0" maximum:"2147483647" default:"0"`
	// The sections that guidelines are shown with, by their headings; left out: all.
	Sections []string `json:"sections,omitzero" enum:"Core Function,Success Patterns,Common Issues,Best Practices,What the tool answered,Statistics"`
	// The run that asks. With `revisions.untold_share` a share of the runs gets no advice; the run's name decides.
	Session *string `json:"session_id,omitzero" as:"Name"`
	// Show the kept calls.
	IncludeHistory *bool `json:"include_history,omitzero" default:"true"`
	// Limit the number of calls: the newest good and the newest bad ones, half and half; 0 leaves it to include_history.
	IncludeCalls *int64 `json:"include_calls,omitzero" minimum:"0" maximum:"2147483647" default:"0"`
}

// StoreRequest is the body of vector_store.
type StoreRequest struct {
	Workspace *string `json:"workspace_id,omitzero" as:"Name"`
	// list, delete, delete_ids, copy, dump or load; any other is refused in the answer.
	Action *string `json:"action"`
	// For copy.
	Source *string `json:"src_workspace_id,omitzero" as:"Name"`
	// For dump and load: a folder below the server's dump folder, or a file there that ends in .jsonl.
	Path *string `json:"path,omitzero"`
	// For delete_ids.
	MemoryIDs []string `json:"memory_ids,omitzero"`
}

// SnapshotRequest is the body of a request for a backup.
//
// Example:
//
//	{"workspace_id":"default"}
type SnapshotRequest struct {
	Workspace *string `json:"workspace_id,omitzero"` // The workspace to copy; left out it is the whole store.
}

// PreflightRequest is the body of preflight_tool_call.
//
// Example:
//
//	{"workspace_id":"default","tool_name":"web_search","input":{"query":"go generics"}}
type PreflightRequest struct {
	Workspace *string        `json:"workspace_id,omitzero" as:"Name"`
	ToolName  *string        `json:"tool_name" as:"Name"`
	Input     jsontext.Value `json:"input,omitzero" default:"\"\"" type:"object,string"`
	// The run that the call belongs to. What the run has shown so far counts.
	Trajectory *string `json:"trajectory_id,omitzero"`
	// Names the run where there is no `trajectory_id`, or no call is known of that.
	Session *string `json:"session_id,omitzero"`
	// Who asks. The forecast is the same for all agents.
	Agent *string `json:"agent_id,omitzero"`
}

// CompactRequest is the body of compact_conversation.
type CompactRequest struct {
	// OpenAI chat messages, or messages with Anthropic-style content blocks.
	Messages  []jsontext.Value `json:"messages" type:"object"`
	Workspace *string          `json:"workspace_id,omitzero" as:"NewName"`
	// Names the conversation; its originals can then be searched together.
	Conversation *string `json:"conversation_id,omitzero"`
	// Picks the token table.
	Model *string `json:"model,omitzero"`
	// What the model takes.
	MaxInputTokens *int64 `json:"max_input_tokens,omitzero" minimum:"0"`
	// The size to aim at.
	TargetTokens *int64 `json:"target_tokens,omitzero" minimum:"0"`
	// Tool schemas that go with each request; they count.
	Tools jsontext.Value `json:"tools,omitzero"`
	// What the provider counted for these messages and tools; it teaches the estimate for models without a table.
	ReportedTokens *int64  `json:"reported_tokens,omitzero" minimum:"0"`
	Profile        *string `json:"profile,omitzero" enum:",default,deerflow,forge,ra_aid"`
	// Settings laid over the profile's.
	Overrides jsontext.Value `json:"overrides,omitzero" type:"object,null"`
	// Numbers of messages that must stay as they are.
	Pins   []int64 `json:"pins,omitzero"`
	Force  *bool   `json:"force,omitzero" default:"false"`
	DryRun *bool   `json:"dry_run,omitzero" default:"false"`
	// Settings are the other members: settings of the profile, if their names match.
	Settings jsontext.Value `json:",embed"`
}

// Conversation has the messages of a conversation.
type Conversation struct {
	Messages []jsontext.Value `json:"messages" type:"object"`
}

// UndoRequest is the body of a request to undo a compaction.
type UndoRequest struct {
	Messages []jsontext.Value `json:"messages,omitzero" type:"object"` // of the conversation as it is now
}

// Correction is a person's verdict on a call.
//
// Example:
//
//	{"score":0,"evaluation":"The answer was about another library.","by":"ann"}
type Correction struct {
	Score   *float64 `json:"score" minimum:"0" maximum:"1" multipleOf:"0.5"` // 0, 0.5 or 1
	Summary *string  `json:"summary,omitzero" maxLength:"500"`
	// The reason.
	Evaluation *string `json:"evaluation,omitzero" maxLength:"4000"`
	// Who says so.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}

// GuidelineDecision is the body of a decision on a guideline: "pin" a version, "roll_back" to one, or
// "unpin".
type GuidelineDecision struct {
	Decision *string `json:"decision" enum:"pin,roll_back,unpin"`
	// Needed for all but unpin.
	Revision *int64 `json:"revision,omitzero" minimum:"1"`
	// Who decides.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}

// NewLine is a line that a person adds to a guideline.
type NewLine struct {
	Section *string `json:"section" enum:"Core Function,Success Patterns,Common Issues,Best Practices"`
	// One line, not a heading.
	Text *string `json:"text" minLength:"1" maxLength:"600" pattern:"^ *[^\\s#\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Who sets it.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}

// LineDecision is a decision on a line of a guideline, or on a statement that waits.
type LineDecision struct {
	Decision *string `json:"decision" enum:"set,remove,undo,accept,refuse,wait"`
	// One line, not a heading.
	Text *string `json:"text,omitzero" minLength:"1" maxLength:"600" pattern:"^ *[^\\s#\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Who decides.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
}

// Label is a person's verdict on a kind of output.
//
// Example:
//
//	{"score":0,"evaluation":"It found nothing.","by":"ann","preview":true}
type Label struct {
	Score *float64 `json:"score,omitzero" minimum:"0" maximum:"1" multipleOf:"0.5"` // 0, 0.5 or 1
	// The reason.
	Evaluation *string `json:"evaluation,omitzero" maxLength:"4000"`
	// Who says so.
	By *string `json:"by,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f-\\x9f]*$"`
	// Take the score back.
	Withdraw *bool `json:"withdraw,omitzero"`
	// Change nothing.
	Preview *bool `json:"preview,omitzero"`
}
