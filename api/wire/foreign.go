package wire

import "github.com/go-json-experiment/json/jsontext"

// What follows says how others write things that are read and written as they stand.

// CallRequest is one tool call. Unknown fields are ignored. summary, evaluation, score and is_summarized may be sent but are never
// used: the judge fills them in.
//
// Example:
//
//	{"tool_name":"web_search","input":{"query":"go generics"},"output":"12 results","success":true,
//	  "time_cost":0.8,"token_cost":150}
type CallRequest struct {
	ToolName string         `json:"tool_name,omitzero" as:"ToolName"`
	Input    jsontext.Value `json:"input,omitzero" type:"object,string" default:"\"\""`
	Output   string         `json:"output,omitzero" default:"\"\""`
	// As the caller saw it; `"false"` and such words stand for booleans.
	Success bool `json:"success,omitzero" type:"boolean,string" default:"true"`
	// Seconds; 0 means unknown. A text may stand for the number.
	TimeCost float64 `json:"time_cost,omitzero" type:"number,string" minimum:"0" default:"0"`
	// -1 means unknown. A text may stand for the number.
	TokenCost int64 `json:"token_cost,omitzero" type:"integer,string" minimum:"-1" default:"-1"`
	// `YYYY-MM-DD HH:MM:SS` in the server's zone, or RFC 3339; now if left out.
	CreateTime string `json:"create_time,omitzero"`
	// Stands for `input` where that is left out, as do `tool_input` and `args`, in this order; a text that is a JSON object stands for the
	// object.
	Arguments jsontext.Value `json:"arguments,omitzero" type:"object,string,null"`
	ToolInput jsontext.Value `json:"tool_input,omitzero" type:"object,string,null"`
	Args      jsontext.Value `json:"args,omitzero" type:"object,string,null"`
	// Stands for `output` where that is left out, as does `tool_output`; what is not a text stands as JSON.
	Result     any  `json:"result,omitzero"`
	ToolOutput any  `json:"tool_output,omitzero"`
	IsError    bool `json:"is_error,omitzero" type:"boolean,string"` // Stands for the opposite of `success` where that is left out.
	// A text or an object that is not empty, or true, stands for `success` false where neither `success` nor `is_error` is given; its text
	// is the output where there is no other.
	Error any `json:"error,omitzero"`
	// Free. `tool_call_id`, `trajectory_id`, `agent_id` and `guideline_version` are understood.
	Metadata     jsontext.Value `json:"metadata,omitzero" type:"object,null"`
	Summary      string         `json:"summary,omitzero"`
	Evaluation   string         `json:"evaluation,omitzero"`
	Score        float64        `json:"score,omitzero"`
	CallHash     string         `json:"call_hash,omitzero" maxLength:"1024"` // Computed if left out.
	IsSummarized bool           `json:"is_summarized,omitzero"`
}

// CallMetadata is the metadata of a stored call: what the caller sent, and these.
type CallMetadata struct {
	CallID          string `json:"call_id"` // The id of the call under /v1.
	EvaluationState string `json:"evaluation_state" enum:"judged,pending,failed"`
	JudgedBy        string `json:"judged_by,omitzero"`            // `rules`, `llm:<model>`, `cache` or `person:<name>`.
	JudgedRule      string `json:"judged_rule,omitzero"`          // The rule that decided.
	EvaluationError string `json:"evaluation_error,omitzero"`     // Why the newest try to judge the call failed.
	Untrusted       bool   `json:"evaluation_untrusted,omitzero"` // The verdict's texts may hold words of the tool.
	OutputCutFrom   int64  `json:"output_cut_from,omitzero"`      // The output was longer than the limit; its length in bytes.
	InputCutFrom    int64  `json:"input_cut_from,omitzero"`       // The input was longer than the limit; its length in bytes.
}

// OTLP is an export request of OpenTelemetry, or the response to one, as the protocol has it.
type OTLP map[string]any

// Hook is what a host writes to the standard input of a hook.
type Hook map[string]any

// HookAnswer is what the host reads, in its own words.
type HookAnswer map[string]any
