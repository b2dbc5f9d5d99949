package memoryd

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

// ToolRef addresses one tool memory: a tool's name within a workspace. Both are
// compared byte for byte; there is no folding and no search.
type ToolRef struct {
	Workspace string
	Tool      string
}

// CallKey is the identity of a call: two calls with the same key in the same
// workspace are the same call sent twice. See IdentityOf.
type CallKey [16]byte

// String gives the key as 32 lower-case hexadecimal digits.
func (k CallKey) String() string { return hex.EncodeToString(k[:]) }

// Call is one recorded tool invocation.
type Call struct {
	Key CallKey
	ToolRef

	// Seq numbers the calls of a tool in the order in which the store accepted
	// them, from 1. The store sets it; 0 means not stored.
	Seq int64

	// Input is the JSON text as the caller sent it: an object or a string.
	Input json.RawMessage
	// Output is the tool's answer, cut to the configured limit.
	Output string
	// Success is the caller's own flag.
	Success bool
	// TimeCost is the duration in seconds; 0 means unknown.
	TimeCost float64
	// TokenCost counts tokens; -1 means unknown.
	TokenCost int64
	// CreateTime is the text that the caller gave, or the server's clock in the
	// form "2006-01-02 15:04:05"; Time is the instant it stands for.
	CreateTime string
	Time       time.Time
	// Metadata is the caller's own JSON object, as sent; nil means {}.
	Metadata json.RawMessage
	// Hash is the call_hash of the wire format: see HashOf.
	Hash string

	Evaluation Evaluation
}

// Sample is the narrow part of a call: what statistics need, without bodies.
type Sample struct {
	Seq       int64
	Success   bool
	State     EvaluationState
	Score     float64
	TimeCost  float64 // seconds; 0 means unknown
	TokenCost int64   // -1 means unknown
}

// Sample gives the narrow part of c.
func (c *Call) Sample() Sample {
	return Sample{
		Seq: c.Seq, Success: c.Success, State: c.Evaluation.State, Score: c.Evaluation.Score,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost,
	}
}
