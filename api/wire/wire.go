// Package wire has the types of the HTTP API. Their tags and comments are what api/openapi.json
// says of them. It contains no logic.
package wire

import (
	"math"
	"strconv"

	"memoryd/internal/stats"

	"github.com/go-json-experiment/json/jsontext"
)

// Float is a number that is encoded with a decimal point even if it is whole, such as 1.0, as
// clients of the original server expect.
type Float float64

// MarshalJSONTo implements json.MarshalerTo.
func (f Float) MarshalJSONTo(enc *jsontext.Encoder) error {
	if v := float64(f); v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return enc.WriteValue(strconv.AppendFloat(enc.AvailableBuffer(), v, 'f', 1, 64))
	}
	return enc.WriteToken(jsontext.Float(float64(f)))
}

// Call is a tool call: an item of a request, or an element of a history.
type Call struct {
	ToolName   string         `json:"tool_name"`
	Input      jsontext.Value `json:"input" type:"object,string"` // an object or a string
	Output     string         `json:"output"`
	Success    bool           `json:"success"`
	TimeCost   Float          `json:"time_cost"`  // seconds
	TokenCost  int64          `json:"token_cost"` // -1 means unknown
	CreateTime string         `json:"create_time"`
	Metadata   jsontext.Value `json:"metadata" as:"CallMetadata"`
	// What happened, in one line. Words of the tool stand between “ and ”, which stand nowhere else in it.
	Summary string `json:"summary"`
	// Why, with words of the tool between the same marks. Where `metadata.evaluation_untrusted` is true, both texts are no advice.
	Evaluation string `json:"evaluation"`
	Score      Float  `json:"score" minimum:"0" maximum:"1" multipleOf:"0.5"`
	CallHash   string `json:"call_hash"`
	// The newest guideline was written with this call in the history.
	IsSummarized bool `json:"is_summarized"`
}

// Memory is a tool memory.
type Memory struct {
	WorkspaceID string `json:"workspace_id"`
	MemoryID    string `json:"memory_id" pattern:"^[0-9a-f]{32}$"`
	MemoryType  string `json:"memory_type" const:"tool"`
	// The tool's name.
	WhenToUse string `json:"when_to_use"`
	// The guideline; empty until the tool is summarised.
	Content string `json:"content"`
	// Mean score of judged calls.
	Score        Float  `json:"score"`
	TimeCreated  string `json:"time_created"`
	TimeModified string `json:"time_modified"`
	// Who wrote the guideline: a model's name or `rules`.
	Author          string         `json:"author"`
	ToolCallResults []Call         `json:"tool_call_results"`
	Metadata        MemoryMetadata `json:"metadata"`
}

// MemoryMetadata is what a memory contains beside its text and its calls.
type MemoryMetadata struct {
	Statistics        Statistics `json:"statistics,omitzero"` // none if the request did not wait for them
	GuidelineRevision int64      `json:"guideline_revision"`
	AskedAs           []string   `json:"asked_as,omitempty"` // names in the request that mean this tool, if they differ from its own
}

// Statistics are the statistics of a history.
type Statistics = stats.Statistics

// Reply is the beginning of each answer of the tool-memory endpoints.
type Reply struct {
	Answer   string `json:"answer"`
	Success  bool   `json:"success"`
	Messages []any  `json:"messages" maxItems:"0" type:"object"` // Always empty; the clients of ReMe expect it.
}

// Refusal is the answer to a request that is understood but cannot be served as asked.
type Refusal struct {
	Reply `success:"false"`

	Metadata any `json:"metadata" type:"object"`
}

// AddResponse is the answer of add_tool_call_result; success is false when every item was rejected.
type AddResponse struct {
	Reply

	Metadata *AddMetadata `json:"metadata"`
}

// NamesResponse is the answer about named tools.
type NamesResponse struct {
	Reply

	Metadata NamesMetadata `json:"metadata"`
}

// StoreResponse is the answer of vector_store.
type StoreResponse struct {
	Reply `success:"true"`

	Metadata StoreMetadata `json:"metadata"`
}

// AddMetadata is the metadata of add_tool_call_result answers.
type AddMetadata struct {
	MemoryList         []Memory           `json:"memory_list"`
	DeletedMemoryIDs   []string           `json:"deleted_memory_ids"`
	UpdateResult       UpdateResult       `json:"update_result"`
	ValidationStats    ValidationStats    `json:"validation_stats"`
	DeduplicationStats DeduplicationStats `json:"deduplication_stats"`
	Rejected           []Rejection        `json:"rejected"`
	// IgnoredFields counts the items with members of unknown names.
	IgnoredFields map[string]int `json:"ignored_fields,omitempty"`
	// Verdicts are those of the valid items, in order, if the request asked for them.
	Verdicts []Verdict `json:"verdicts,omitempty"`
}

// Verdict is what is known of a call's verdict.
type Verdict struct {
	CallID  string `json:"call_id"`
	State   string `json:"evaluation_state" enum:"pending,judged,failed"`
	Score   Float  `json:"score"`
	Summary string `json:"summary"`
}

// UpdateResult counts replaced and written memories.
type UpdateResult struct {
	DeletedCount  int `json:"deleted_count"`
	InsertedCount int `json:"inserted_count"`
}

// NothingUpdated is the metadata of the answer to a refused request.
type NothingUpdated struct {
	UpdateResult UpdateResult `json:"update_result"`
}

// ValidationStats counts the items of a request.
type ValidationStats struct {
	TotalInput int `json:"total_input"`
	Valid      int `json:"valid"`
	Filtered   int `json:"filtered"`
}

// DeduplicationStats counts the valid items: new ones and duplicates.
type DeduplicationStats struct {
	// Valid items.
	TotalNew int `json:"total_new"`
	// Items that had been recorded before.
	Deduplicated int `json:"deduplicated"`
	Added        int `json:"added"`
}

// Rejection is a rejected item.
type Rejection struct {
	Index  int    `json:"index"`
	Reason string `json:"reason"`
}

// NamesMetadata is the metadata of answers about named tools.
type NamesMetadata struct {
	MemoryList       []Memory  `json:"memory_list"`
	UnknownToolNames []string  `json:"unknown_tool_names"`
	Summarised       int       `json:"summarised,omitzero"`
	Skipped          int       `json:"skipped,omitzero"`
	Failed           []Failure `json:"failed,omitempty"`
	// Of a summary, the ids of all tools of memory_list.
	DeletedMemoryIDs []string      `json:"deleted_memory_ids,omitzero"`
	UpdateResult     *UpdateResult `json:"update_result,omitzero"`
}

// Failure is a tool that could not be summarised.
type Failure struct {
	ToolName string `json:"tool_name"`
	Reason   string `json:"reason"`
}

// ValidationError is the body of a 422 of the tool-memory endpoints.
type ValidationError struct {
	Detail []Detail `json:"detail"`
}

// Detail is one error in a request.
type Detail struct {
	Type string `json:"type"`
	Loc  []any  `json:"loc" type:"string,integer"` // the path: strings for members, numbers for indexes
	Msg  string `json:"msg"`
	// The value at fault; where a field is missing, what it is missing in.
	Input jsontext.Value `json:"input"`
	// Context says more about a body that is not JSON.
	Context map[string]string `json:"ctx,omitempty"`
}

// Problem is the error of all other endpoints (RFC 9457).
type Problem struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Code      string `json:"code"`
	RequestID string `json:"request_id,omitzero"`
}

// Health is the answer of /health and /livez.
type Health struct {
	Status string `json:"status"`
}

// Readiness is the answer of /readyz.
type Readiness struct {
	Status string  `json:"status" enum:"ready,degraded,unready"` // ready, degraded or unready
	Checks []Check `json:"checks"`
}

// Check is one readiness check.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status" enum:"ok,degraded,failed"` // ok, degraded or failed
	Detail string `json:"detail,omitzero"`
}

// ToolInfo is a tool in a list.
type ToolInfo struct {
	WorkspaceID string     `json:"workspace_id"`
	ToolName    string     `json:"tool_name"`
	MemoryID    string     `json:"memory_id"`
	Statistics  Statistics `json:"statistics"`
	// The version of its guideline; 0 is none.
	GuidelineRevision int64  `json:"guideline_revision"`
	TimeCreated       string `json:"time_created"`
	TimeModified      string `json:"time_modified"`
}

// ToolList is a page of tools.
type ToolList struct {
	Tools      []ToolInfo `json:"tools"`
	NextCursor string     `json:"next_cursor,omitzero"`
}

// WorkspaceList is a page of workspaces.
type WorkspaceList struct {
	Workspaces []string `json:"workspaces"`
	NextCursor string   `json:"next_cursor,omitzero"`
}
