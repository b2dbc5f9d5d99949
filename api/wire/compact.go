package wire

import "github.com/go-json-experiment/json/jsontext"

// CompactResult is the answer of compact_conversation.
type CompactResult struct {
	Compacted bool             `json:"compacted"`
	Reason    string           `json:"reason"`
	Detail    string           `json:"detail,omitempty"`
	Messages  []jsontext.Value `json:"messages"`
	Summary   string           `json:"summary"`
	Report    any              `json:"report"` // a compact.Report
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
