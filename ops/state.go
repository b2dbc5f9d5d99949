package ops

import (
	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"
)

// State is the data of one request on its way through a pipeline. A request
// fills the part it has; ops fill the rest.
type State struct {
	// Workspace is where everything of this request happens.
	Workspace string

	Record      Record
	Names       Names
	Compaction  Compaction
	Forecast    Forecast
	StoreAction StoreAction
	Result      Result
}

// Record is a request to add calls.
type Record struct {
	// ToolName stands in for items that name no tool; "" means none.
	ToolName string
	// RequestKey is the client's Idempotency-Key; without one the server gives
	// each request a key of its own.
	RequestKey string
	Items      []Item
	// Async answers as soon as the calls are durable.
	Async bool
	// WholeHistory answers with all kept calls, not only the ones just sent.
	WholeHistory bool

	// Calls are the items that are valid, filled in by ValidateToolCallResult;
	// Rejected are the others. Appended says what the store made of each call.
	Calls    []memoryd.Call
	Rejected []Rejection
	Appended []store.Appended
}

// Item is one call as it was sent: decoded, but not yet checked beyond its
// types.
type Item struct {
	Call memoryd.Call
	// ToolCallID is metadata.tool_call_id, part of the call's identity.
	ToolCallID string
	// Reason says why the item could not be decoded; "" when it could.
	Reason string
}

// Rejection names an item that was filtered, by its place in the request.
type Rejection struct {
	Index  int
	Reason string
}

// Names is a request about tools by name.
type Names struct {
	// Tools are the names asked for, in order.
	Tools []string
	// Force summarises also where nothing changed, Stale only where enough did.
	Force, Stale bool
	// Session is the agent's session: while two versions of a guideline are
	// compared, a session is always shown the same.
	Session string
	// MaxTokens bounds the answer; 0 means no bound.
	MaxTokens int
	// WholeHistory shows all kept calls; else RecentCalls of each, good and bad.
	WholeHistory bool
	RecentCalls  int
}

// Memory is what is known of one tool, as an answer shows it.
type Memory struct {
	Tool       memoryd.Tool
	Statistics stats.Statistics
	// Calls are the ones to show, oldest first.
	Calls []memoryd.Call
}

// Failure is a tool whose work failed, with the reason for the client.
type Failure struct {
	Tool   string
	Reason string
}

// Result is what the client is answered.
type Result struct {
	Success  bool
	Answer   string
	Memories []Memory
	// Existed are the memories that a recording request changed and that were
	// there before it; Changed counts all that it changed.
	Existed []memoryd.ToolRef
	Changed int
	// Unknown are names asked for that have no memory.
	Unknown []string
	// Summarised and Skipped count tools of a summary; Failed names the others.
	Summarised, Skipped int
	Failed              []Failure
}
