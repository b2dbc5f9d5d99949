package wire

import "github.com/go-json-experiment/json/jsontext"

// CompactResult is the answer of compact_conversation.
type CompactResult struct {
	Compacted bool             `json:"compacted"`
	Reason    string           `json:"reason"`
	Detail    string           `json:"detail,omitempty"`
	Messages  []jsontext.Value `json:"messages"`
	Summary   string           `json:"summary"`
	Report    CompactReport    `json:"report"`
}

// CompactReport says what a compaction did and what it cost.
type CompactReport struct {
	ID                    string         `json:"id,omitempty"` // for undo
	Profile               string         `json:"profile"`
	TokensBefore          int            `json:"tokens_before"`
	TokensAfter           int            `json:"tokens_after"`
	MessagesBefore        int            `json:"messages_before"`
	MessagesAfter         int            `json:"messages_after"`
	Before                Breakdown      `json:"before"`
	After                 Breakdown      `json:"after"`
	Target                int            `json:"target_tokens,omitempty"`
	OverTarget            int            `json:"over_target_tokens,omitempty"`
	ModelCalls            int            `json:"model_calls"`
	ModelPromptTokens     int            `json:"model_prompt_tokens"`
	ModelCompletionTokens int            `json:"model_completion_tokens"`
	ModelFailures         []string       `json:"model_failures,omitempty"`
	ReusedSummaries       int            `json:"reused_summaries,omitempty"`
	Groups                int            `json:"groups"`
	Batches               int            `json:"batches"`
	OldestCallAge         int            `json:"oldest_call_age"`
	WallSeconds           float64        `json:"wall_seconds"`
	ModelSeconds          float64        `json:"model_seconds"`
	Cache                 PromptCache    `json:"cache"`
	ExcludedTools         map[string]int `json:"excluded_tools,omitempty"`
	Messages              []Disposition  `json:"messages"`
}

// Breakdown splits the tokens of a conversation by kind of message.
type Breakdown struct {
	System    int `json:"system"`
	Tools     int `json:"tools"`
	User      int `json:"user"`
	Assistant int `json:"assistant"`
	Results   int `json:"tool_results"`
	Summary   int `json:"summary"`
}

// PromptCache is the effect on the provider's prompt cache.
type PromptCache struct {
	SharedMessages    int     `json:"shared_messages"`
	SharedTokens      int     `json:"shared_tokens"`
	RewrittenTokens   int     `json:"rewritten_tokens"`
	SharedValue       float64 `json:"shared_value"` // tokens at full price
	BreakEvenRequests int     `json:"break_even_requests"`
}

// Disposition says what happened to one message of the request.
type Disposition struct {
	Index       int    `json:"index"`
	Role        string `json:"role"`
	Disposition string `json:"disposition"`
	Why         string `json:"why"`
	Tokens      int    `json:"tokens"`
	Original    string `json:"original,omitempty"`
	Output      int    `json:"output"` // its index in the result; -1 if it was removed
}

// CompactEvent is a progress event of a compaction.
type CompactEvent struct {
	Type         string `json:"type"`
	Done         int    `json:"done"`
	Total        int    `json:"total"`
	TokensBefore int    `json:"tokens_before,omitempty"`
	TokensAfter  int    `json:"tokens_after,omitempty"`
	Reason       string `json:"reason,omitempty"`
}
