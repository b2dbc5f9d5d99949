package wire

import "encoding/json"

// HitList is the places where a text was found in what compaction removed.
type HitList struct {
	Hits []Hit `json:"hits"`
}

// Hit is a place in a message.
type Hit struct {
	ID      string `json:"id"`
	Message int    `json:"message"` // its number in the compaction's input
	Offset  int    `json:"offset"`  // in characters
	Around  string `json:"around"`
}

// TextPage is a page of the text of an original.
type TextPage struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Total int    `json:"total_characters"`
	Next  int    `json:"next"` // the offset of the next page, -1 after the last
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
	Hours   int        `json:"hours"`
	Rows    []SpendRow `json:"rows"`
	Budgets []Budget   `json:"budgets"`
}

// SpendRow counts the requests to one model, or the verdicts of one judge.
type SpendRow struct {
	Workspace        string  `json:"workspace,omitempty"`
	Tool             string  `json:"tool,omitempty"`
	Op               string  `json:"op"`
	By               string  `json:"by"`
	Requests         int64   `json:"requests,omitempty"`
	Failed           int64   `json:"failed,omitempty"`
	PromptTokens     int64   `json:"prompt_tokens,omitempty"`
	CompletionTokens int64   `json:"completion_tokens,omitempty"`
	Cost             float64 `json:"cost,omitempty"`
	Verdicts         int64   `json:"verdicts,omitempty"`
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
	Judges []Judge `json:"judges"`
}

// Judge is how one judge judges.
type Judge struct {
	Version         string           `json:"version"`
	Name            string           `json:"name"`
	Verdicts        int64            `json:"verdicts"`
	Scores          map[string]int64 `json:"scores"` // by score
	Recent          map[string]int64 `json:"recent"`
	AgreementRules  Agreement        `json:"agreement_rules"`
	AgreementPeople Agreement        `json:"agreement_people"`
	Warnings        []string         `json:"warnings"`
	Tools           []ToolScores     `json:"tools"`
}

// Agreement is how often a judge gave the score that another gave.
type Agreement struct {
	N     int64     `json:"n"`
	Agree int64     `json:"agree"`
	Rate  float64   `json:"rate"`
	CI95  *Interval `json:"ci95"`
}

// ToolScores is how a judge's scores for one tool are spread.
type ToolScores struct {
	Workspace string           `json:"workspace"`
	Tool      string           `json:"tool"`
	Scores    map[string]int64 `json:"scores"`
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
	Risk        *float64    `json:"risk"`
	RiskCI95    *[2]float64 `json:"risk_ci95"`
	BaseRate    float64     `json:"base_rate"`
	JudgedCalls int         `json:"judged_calls"`
	Borrowed    bool        `json:"borrowed"` // from tools of the same shape
	Warnings    []Warning   `json:"warnings"`
	// Suggestion is the input with one change that is known to repair such calls;
	// null where none is known.
	Suggestion       json.RawMessage `json:"suggestion"`
	ExpectedTimeCost *float64        `json:"expected_time_cost"` // seconds
	SimilarCalls     SimilarCalls    `json:"similar_calls"`
}

// Warning is a reason to think that a planned call fails, and what to change.
type Warning struct {
	Text string `json:"text"`
	// Severity is stop, ask or note: what a host should do with the call.
	Severity string `json:"severity"`
	// Evidence names the rule that the warning goes by.
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
	Untrusted  bool    `json:"untrusted"` // always: it holds words of callers and tools
}

// GuidelineList is the versions of a tool's guideline, the newest first.
type GuidelineList struct {
	Versions []GuidelineVersion `json:"versions"`
	Pinned   int64              `json:"pinned"` // 0: none
	Stale    []string           `json:"stale"`  // why the newest is; empty: it is not
}

// GuidelineVersion is one version; a list leaves out its text and evidence.
type GuidelineVersion struct {
	Revision     int64    `json:"revision"`
	Author       string   `json:"author"`
	Written      string   `json:"written"`
	BasedOn      int64    `json:"based_on"` // the tool's revision that it was written from
	Reasons      []string `json:"reasons"`  // why the one before was stale
	Judges       []string `json:"judges"`   // versions of the judges behind the calls
	RolledBackTo int64    `json:"rolled_back_to,omitempty"`
	Why          string   `json:"why,omitempty"`
	Outcomes     Outcomes `json:"outcomes"`
	// With is the version that Changes compares with; nil where none was asked for.
	With    *int64            `json:"with,omitempty"`
	Changes []GuidelineChange `json:"changes,omitempty"`

	Content  string          `json:"content,omitempty"`
	Items    []GuidelineItem `json:"items,omitempty"`
	Evidence []Evidence      `json:"evidence,omitempty"`
}

// GuidelineItem is a statement of a guideline.
type GuidelineItem struct {
	ID          string   `json:"id"`
	Section     string   `json:"section"`
	Text        string   `json:"text"`
	Evidence    []string `json:"evidence"` // ids
	Fingerprint string   `json:"fingerprint"`
	Rank        int      `json:"rank"`
	Value       float64  `json:"value"`
	Author      string   `json:"author"` // rules, a model's name, or person:<name>
	Pending     string   `json:"pending,omitempty"`
	// Unedited and UneditedAuthor are what a person's line stands in place of; Removed
	// says that a person took the line out.
	Unedited       string `json:"unedited,omitempty"`
	UneditedAuthor string `json:"unedited_author,omitempty"`
	Removed        bool   `json:"removed,omitzero"`
}

// PendingList is a page of statements that are not published.
type PendingList struct {
	Statements []PendingStatement `json:"statements"`
	NextCursor string             `json:"next_cursor,omitempty"`
}

// PendingStatement waits for its quorum or for a person. It may hold words of a tool.
type PendingStatement struct {
	ID        string   `json:"id"`
	ToolName  string   `json:"tool_name"`
	Section   string   `json:"section"` // "": a whole guideline that came with a dump
	Text      string   `json:"text"`
	Published string   `json:"published"` // what stands in its place; "": nothing
	Author    string   `json:"author"`
	Evidence  []string `json:"evidence"` // ids
	Untrusted bool     `json:"untrusted"`
}

// Evidence is a fact of the history that statements rest on.
type Evidence struct {
	ID          string          `json:"id"`
	Kind        string          `json:"kind"`
	Data        json.RawMessage `json:"data"`
	Calls       []string        `json:"calls,omitempty"` // ids, the newest
	CallCount   int             `json:"call_count"`
	Fingerprint string          `json:"fingerprint"`
	Untrusted   bool            `json:"untrusted"` // always: it may hold words of callers and tools
}

// Outcomes counts judged calls whose agent was shown a version.
type Outcomes struct {
	Calls      int       `json:"calls"`
	Failed     int       `json:"failed"`
	FailedCI95 *Interval `json:"failed_ci95"`
}

// GuidelineChange is one difference: a statement that was added, removed or
// changed.
type GuidelineChange struct {
	Kind    string `json:"kind"`
	ID      string `json:"id"`
	Section string `json:"section"`
	Before  string `json:"before,omitempty"`
	After   string `json:"after,omitempty"`
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

// Forgotten says how many calls of a source were cut out.
type Forgotten struct {
	Calls int `json:"calls"`
}

// Session says on whose behalf the caller is.
type Session struct {
	// Source is the id of the key, or local.
	Source string   `json:"source"`
	Roles  []string `json:"roles"`
	// Workspaces are the ones that it knows of; null is all.
	Workspaces []string `json:"workspaces"`
	// KeysNeeded says that the server asks for keys.
	KeysNeeded bool `json:"keys_needed"`
}

// Key is what is known of an API key.
type Key struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Roles      []string `json:"roles"`
	Workspaces []string `json:"workspaces"` // ["*"] is all
	Rate       float64  `json:"rate"`       // requests a second; 0: the server's limit
	Created    string   `json:"created"`
	CreatedBy  string   `json:"created_by"`
	Expires    string   `json:"expires"` // "" is never
	Revoked    string   `json:"revoked"` // "" is not
	LastUsed   string   `json:"last_used"`
}

// KeyList lists the keys, the oldest first.
type KeyList struct {
	Keys []Key `json:"keys"`
}

// NewKey is a key with its token, which is shown this once.
type NewKey struct {
	Key   Key    `json:"key"`
	Token string `json:"token"`
}

// KeyRequest asks for a key.
type KeyRequest struct {
	Name       *string  `json:"name"`
	Roles      []string `json:"roles"`
	Workspaces []string `json:"workspaces"`
	Expires    *string  `json:"expires"`
	Rate       *float64 `json:"rate"`
}

// RotateRequest asks for another token of a key.
type RotateRequest struct {
	Grace *int64 `json:"grace_seconds"`
}

// AuditList is a page of the audit log, the oldest entry first.
type AuditList struct {
	Entries    []json.RawMessage `json:"entries"`
	NextCursor string            `json:"next_cursor,omitempty"`
}
