package wire

import "encoding/json"

// StoredCall is a stored call.
type StoredCall struct {
	ID     string `json:"id" pattern:"^[0-9a-f]{32}$"`
	Number int64  `json:"number"` // in order of acceptance
	Call
	Judgement Judgement `json:"judgement"`
}

// CallList is a page of calls, newest first.
type CallList struct {
	Calls      []StoredCall `json:"calls"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// Run has the calls of one run, oldest first.
type Run struct {
	Calls []RunCall `json:"calls"`
}

// RunCall is a call of a run.
type RunCall struct {
	ID       string  `json:"id"`
	ToolName string  `json:"tool_name"`
	Time     string  `json:"time"`
	State    string  `json:"state"`
	Score    float64 `json:"score"`
	// null where it was too long to be kept with the run.
	Input any `json:"input"`
}

// Judgement says how a call was judged.
type Judgement struct {
	State string `json:"state" enum:"judged,pending,failed"`
	By    string `json:"by,omitempty"`
	// The rule that decided.
	Rule string `json:"rule,omitempty"`
	// Identifies the judge: its model, prompt and settings.
	Version      string   `json:"version,omitempty"`
	At           string   `json:"at,omitempty"`
	FailedChecks []string `json:"failed_checks"`
	// Tries that failed.
	Attempts  int    `json:"attempts,omitempty"`
	LastError string `json:"last_error,omitempty"`
	// When the next try may start.
	NotBefore string `json:"not_before,omitempty"`
	Cost      Cost   `json:"cost"`
	// The judge's verdict that a person's replaced.
	Overruled *Overruled `json:"overruled,omitempty"`
}

// Cost is a call's share of model requests.
type Cost struct {
	// A share where several calls shared a request.
	Requests         float64 `json:"requests"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
}

// Overruled is the verdict that a person replaced.
type Overruled struct {
	State   string  `json:"state" enum:"judged,pending,failed"`
	Score   float64 `json:"score"`
	By      string  `json:"by,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	Version string  `json:"version,omitempty"`
}

// PreflightResponse is the answer of preflight_tool_call. The forecast is both at the top level and
// in metadata, for clients that parse all endpoints alike.
type PreflightResponse struct {
	Reply `success:"true"`

	// The same members as here, from `risk` on.
	Metadata Forecast `json:"metadata"`
	Forecast
}

// Forecast is what to expect of a planned call.
type Forecast struct {
	// Risk is the estimated probability that the call scores 0; null without a history.
	Risk        *float64    `json:"risk"`
	RiskCI95    *[2]float64 `json:"risk_ci95"`
	BaseRate    float64     `json:"base_rate"` // share of the judged calls that scored 0
	JudgedCalls int         `json:"judged_calls"`
	Warnings    []Warning   `json:"warnings" maxItems:"3"`
	// Suggestion is the input with one change that worked before; null if there is none.
	Suggestion       json.RawMessage `json:"suggestion" type:"object,null"`
	ExpectedTimeCost *float64        `json:"expected_time_cost"` // in seconds
	SimilarCalls     SimilarCalls    `json:"similar_calls"`
}

// Warning says why a planned call may fail, and what to change.
type Warning struct {
	Text string `json:"text"`
	// Severity is stop, ask or note: what a host should do about the call.
	Severity string `json:"severity" enum:"stop,ask,note"`
	// Evidence names the rule behind the warning.
	Evidence []string `json:"evidence"`
	Calls    []string `json:"calls"`
}

// SimilarCalls are the most similar calls, at most three of each kind.
type SimilarCalls struct {
	Good []SimilarCall `json:"good" maxItems:"3"`
	Bad  []SimilarCall `json:"bad" maxItems:"3"`
}

// SimilarCall is a recorded call.
type SimilarCall struct {
	CallID     string  `json:"call_id"`
	Similarity float64 `json:"similarity"`
	Score      float64 `json:"score"`
	Input      string  `json:"input"`                  // truncated
	Summary    string  `json:"summary"`                // Words of the tool stand between “ and ”.
	Untrusted  bool    `json:"untrusted" const:"true"` // always true: it contains texts of callers and tools
}

// StoreMetadata is the metadata of vector_store answers: a list of memories, a Size, or a sentence.
type StoreMetadata struct {
	ActionResult any `json:"action_result" as:"ActionResult"`
}

// Size is the number of moved memories.
type Size struct {
	Size int `json:"size"`
}

// Forgotten is the number of deleted calls of a source.
type Forgotten struct {
	Calls int `json:"calls" minimum:"0"`
}

// Session identifies the caller.
type Session struct {
	// Source is the id of the key, or "local".
	Source string   `json:"source"`
	Roles  []string `json:"roles" enum:"record,read,curate,admin"`
	// Workspaces are those that the caller can see; empty means all.
	Workspaces []string `json:"workspaces"`
	// KeysNeeded reports that the server requires keys.
	KeysNeeded bool `json:"keys_needed"`
}

// Key describes an API key.
type Key struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Roles      []string `json:"roles" enum:"record,read,curate,admin"`
	Workspaces []string `json:"workspaces"` // ["*"] means all
	Rate       float64  `json:"rate"`       // requests per second; 0 means the server's limit
	Created    string   `json:"created"`
	// The source that made it; environment or start where the server did.
	CreatedBy string `json:"created_by"`
	Expires   string `json:"expires"` // "" means never
	Revoked   string `json:"revoked"` // "" means not revoked
	// Since the server's start; empty for not.
	LastUsed string `json:"last_used"`
}

// KeyList lists the keys, oldest first.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// NewKey is a key with its token, which is shown only once.
type NewKey struct {
	Key   Key    `json:"key"`
	Token string `json:"token"`
}

// KeyRequest requests a new key.
type KeyRequest struct {
	// At most 100 bytes without control characters.
	Name *string `json:"name,omitzero" maxLength:"100" pattern:"^[^\\x00-\\x1f\\x7f]*$"`
	// record adds calls and compacts; read sees what is known; curate corrects and pins, and reads; admin does all, deletes, copies, dumps
	// and makes keys.
	Roles []string `json:"roles" minItems:"1" enum:"record,read,curate,admin"`
	// ["*"] is all.
	Workspaces []string `json:"workspaces" minItems:"1" minLength:"1"`
	// When it ends; left out for never.
	Expires *string `json:"expires,omitzero" format:"date-time"`
	// Requests a second; 0 is the server's limit.
	Rate *float64 `json:"rate,omitzero" minimum:"0" maximum:"1000000"`
}

// RotateRequest requests a new token of a key.
type RotateRequest struct {
	// How long the old token works beside the new one.
	Grace *int64 `json:"grace_seconds,omitzero" minimum:"0" maximum:"2592000"`
}

// AuditList is a page of the audit log, oldest entry first.
type AuditList struct {
	Entries    []json.RawMessage `json:"entries" as:"AuditEntry"`
	NextCursor string            `json:"next_cursor,omitempty"`
}
