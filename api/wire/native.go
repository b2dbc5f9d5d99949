package wire

import (
	"memoryd/compact"
	"memoryd/evaluate/monitor"
	"memoryd/guidelines"
	"memoryd/internal/stats"
	"memoryd/llm/usage"
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
	Rows    []usage.Row `json:"rows"`
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
	Judges []monitor.Judge `json:"judges"`
}

// PreflightResponse is the answer of preflight_tool_call: the forecast stands at
// the top and, for clients that read all endpoints alike, in metadata.
type PreflightResponse struct {
	Response
	Forecast
}

// Forecast is what the history says of a call before it is made.
type Forecast struct {
	// Risk is the estimated probability that the call scores 0; null without a
	// history.
	Risk             *float64     `json:"risk"`
	RiskCI95         *[2]float64  `json:"risk_ci95"`
	BaseRate         float64      `json:"base_rate"`
	JudgedCalls      int          `json:"judged_calls"`
	Borrowed         bool         `json:"borrowed"` // from tools of the same shape
	Warnings         []Warning    `json:"warnings"`
	ExpectedTimeCost *float64     `json:"expected_time_cost"` // seconds
	SimilarCalls     SimilarCalls `json:"similar_calls"`
}

// Warning is something about a planned call that went wrong before.
type Warning struct {
	Text     string   `json:"text"`
	Evidence []string `json:"evidence"`
	Calls    []string `json:"calls"`
}

// SimilarCalls are the nearest calls, at most three each.
type SimilarCalls struct {
	Good []SimilarCall `json:"good"`
	Bad  []SimilarCall `json:"bad"`
}

// SimilarCall is a call of the history.
type SimilarCall struct {
	CallID     string  `json:"call_id"`
	Similarity float64 `json:"similarity"`
	Score      float64 `json:"score"`
	Input      string  `json:"input"` // its beginning
	Summary    string  `json:"summary"`
}

// GuidelineList is the versions of a tool's guideline, the newest first.
type GuidelineList struct {
	Versions []GuidelineVersion `json:"versions"`
	Pinned   int64              `json:"pinned"` // 0: none
	Stale    []string           `json:"stale"`  // why the newest is; empty: it is not
}

// GuidelineVersion is one version; a list leaves out its text and evidence.
type GuidelineVersion struct {
	Revision     int64               `json:"revision"`
	Author       string              `json:"author"`
	Written      string              `json:"written"`
	BasedOn      int64               `json:"based_on"` // the tool's revision that it was written from
	Reasons      []string            `json:"reasons"`  // why the one before was stale
	Judges       []string            `json:"judges"`   // versions of the judges behind the calls
	RolledBackTo int64               `json:"rolled_back_to,omitempty"`
	Why          string              `json:"why,omitempty"`
	Outcomes     Outcomes            `json:"outcomes"`
	Content      string              `json:"content,omitempty"`
	Items        []guidelines.Item   `json:"items,omitempty"`
	Evidence     []guidelines.Ground `json:"evidence,omitempty"`
}

// Outcomes counts judged calls whose agent was shown a version.
type Outcomes struct {
	Calls      int             `json:"calls"`
	Failed     int             `json:"failed"`
	FailedCI95 *stats.Interval `json:"failed_ci95"`
}

// GuidelineDiff is what a version changed.
type GuidelineDiff struct {
	Revision int64               `json:"revision"`
	With     int64               `json:"with"`
	Changes  []guidelines.Change `json:"changes"`
}

// StoreMetadata is the metadata of an answer to vector_store: a list of memories,
// a Size, or a sentence.
type StoreMetadata struct {
	ActionResult any `json:"action_result"`
}

// Size is how many memories were moved.
type Size struct {
	Size int `json:"size"`
}
