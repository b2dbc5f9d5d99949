package wire

import (
	"memoryd/compact"
	"memoryd/evaluate/watch"
	"memoryd/spend"
)

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

// Spend is what models and judges cost in the newest hours.
type Spend struct {
	Hours   int         `json:"hours"`
	Rows    []spend.Row `json:"rows"`
	Budgets []Budget    `json:"budgets"`
}

// Budget is a limit and how much of it is used up.
type Budget struct {
	Window string `json:"window"` // hour or day
	Unit   string `json:"unit"`   // requests or tokens
	Limit  int64  `json:"limit"`
	Used   int64  `json:"used"`
	Resets string `json:"resets"` // RFC 3339
}

// JudgeList is how judges judge.
type JudgeList struct {
	Judges []watch.Judge `json:"judges"`
}
