package memoryd

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

// ToolRef addresses one tool memory: the name of a tool within a workspace. Both are compared byte
// for byte, without case folding.
type ToolRef struct {
	Workspace string
	Tool      string
}

// CallKey identifies a call: two calls with the same key in the same workspace are one call that
// was sent twice. See Identity.
type CallKey [16]byte

// String returns the key as 32 lower-case hexadecimal digits.
func (k CallKey) String() string { return hex.EncodeToString(k[:]) }

// Call is one recorded tool invocation.
type Call struct {
	Key CallKey
	ToolRef

	// Seq numbers the calls of a tool, from 1, in the order in which the store accepted them. The
	// store sets it; 0 means not stored.
	Seq int64

	// Input is the JSON text as the caller sent it: an object or a string.
	Input json.RawMessage
	// Output is the output of the tool, truncated to the configured limit.
	Output string
	// Success is what the caller reported.
	Success bool
	// TimeCost is the duration in seconds; 0 means unknown.
	TimeCost float64
	// TokenCost is the number of tokens; -1 means unknown.
	TokenCost int64
	// CreateTime is the caller's text, or the server's clock in the form "2006-01-02 15:04:05".
	// Time is the parsed instant.
	CreateTime string
	Time       time.Time
	// Metadata is the caller's JSON object, as sent; nil means {}.
	Metadata json.RawMessage
	// Hash is the call_hash of the wire format; see HashOf.
	Hash string

	Evaluation Evaluation
}

// Sample holds what statistics need of a call, without its input and output.
type Sample struct {
	Seq       int64
	Success   bool
	State     EvaluationState
	Score     float64
	TimeCost  float64 // seconds; 0 means unknown
	TokenCost int64   // -1 means unknown
}

// Sample returns what statistics need of the call.
func (c *Call) Sample() Sample {
	return Sample{
		Seq: c.Seq, Success: c.Success, State: c.Evaluation.State, Score: c.Evaluation.Score,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost,
	}
}
