package wire

import "memoryd/compact"

// HitList is the places where a text was found in what compaction removed.
type HitList struct {
	Hits []compact.Hit `json:"hits"`
}

// StoredCall is a kept call as the native interface shows it.
type StoredCall struct {
	ID     string `json:"id"`
	Number int64  `json:"number"` // grows with acceptance
	Call
	Judgement Judgement `json:"judgement"`
}

// CallList is a page of calls, the newest first.
type CallList struct {
	Calls      []StoredCall `json:"calls"`
	NextCursor string       `json:"next_cursor,omitempty"`
}

// Judgement is all that is known of how a call was judged.
type Judgement struct {
	State        string     `json:"state"`
	By           string     `json:"by,omitempty"`
	Rule         string     `json:"rule,omitempty"`
	Version      string     `json:"version,omitempty"`
	At           string     `json:"at,omitempty"`
	FailedChecks []string   `json:"failed_checks"`
	Attempts     int        `json:"attempts,omitempty"`
	LastError    string     `json:"last_error,omitempty"`
	NotBefore    string     `json:"not_before,omitempty"`
	Cost         Cost       `json:"cost"`
	Overruled    *Overruled `json:"overruled,omitempty"`
}

// Cost is the share of a call in requests to a model.
type Cost struct {
	Requests         float64 `json:"requests"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
}

// Overruled is the verdict that a person's replaced.
type Overruled struct {
	State   string  `json:"state"`
	Score   float64 `json:"score"`
	By      string  `json:"by,omitempty"`
	Rule    string  `json:"rule,omitempty"`
	Version string  `json:"version,omitempty"`
}
