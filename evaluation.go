package memoryd

import (
	"encoding/json"
	"slices"
	"time"
)

// EvaluationState is the progress of a call's evaluation.
type EvaluationState string

// The states. Pending evaluations are retried in the background. Failed ones are final unless a
// person or a forced run asks again.
const (
	Pending EvaluationState = "pending"
	Judged  EvaluationState = "judged"
	Failed  EvaluationState = "failed"
)

// The three scores that a judge may give.
const (
	ScoreFailure = 0.0 // execution failed, or the parameters were wrong
	ScorePartial = 0.5 // it ran, with problems
	ScoreSuccess = 1.0 // it ran, and the parameters were right
)

// The values of Evaluation.JudgedBy. The prefixes for models and people are followed by a name.
const (
	JudgedByRules = "rules"
	JudgedByCache = "cache"

	PersonPrefix = "person:"
	// KindPrefix marks a verdict on the kind of the output; another value follows it, as in
	// "kind:llm:<model>" or "kind:person:<name>".
	KindPrefix = "kind:"
)

// Evaluation is the verdict of a judge on a call. The JSON names are those of exports.
type Evaluation struct {
	State EvaluationState `json:"state"`
	// Score is one of the three scores. It is valid only if State is Judged.
	Score float64 `json:"score,omitzero"`
	// Summary says in one line what happened. Evaluation gives the reasons.
	Summary    string `json:"summary,omitzero"`
	Evaluation string `json:"evaluation,omitzero"`
	// JudgedBy is "rules", "cache", "llm:<model>" or "person:<name>"; "" while
	// pending.
	JudgedBy string `json:"judged_by,omitzero"`
	// Rule is the name of the rule that decided, if one did.
	Rule string `json:"rule,omitzero"`
	// JudgeVersion identifies the judge's model, prompt and settings, to tell the verdicts of
	// different judges apart.
	JudgeVersion string `json:"judge_version,omitzero"`
	// JudgedAt is when the verdict was reached.
	JudgedAt time.Time `json:"judged_at,omitzero"`
	// FailedChecks lists, separated by spaces, the checks of the model's prompt that the call did
	// not pass.
	FailedChecks string `json:"failed_checks,omitzero"`
	// Cost is the cost of the model requests for this call.
	Cost Cost `json:"cost,omitzero"`
	// Overruled is the verdict that a person replaced; nil if none.
	Overruled *Overruled `json:"overruled,omitzero"`

	// Attempts counts failed attempts. LastError is the error of the last one, and NotBefore is the
	// earliest time of the next.
	Attempts  int       `json:"attempts,omitzero"`
	LastError string    `json:"last_error,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
}

// Reported reports that rules used what the call itself says about its outcome: a flag or the
// exit status of a process.
func (e *Evaluation) Reported() bool {
	return e.Rule == "success-flag" || e.Rule == "exit-code" || e.Rule == "body-flag"
}

// Settlement is the evaluation of one stored call.
type Settlement struct {
	ToolRef
	Key        CallKey
	Evaluation Evaluation
	// Amendment is what else to change in the call; nil changes nothing. Only
	// store.Verdicts.Override accepts one.
	Amendment *Amendment
}

// Amendment replaces parts of a stored call after another source reported the same call. Key,
// number, time, tool and run stay as they were.
type Amendment struct {
	Input    json.RawMessage
	Output   string
	Success  bool
	TimeCost float64
	Metadata json.RawMessage
	Hash     string
}

// Apply replaces the amended members of the call.
func (a *Amendment) Apply(c *Call) {
	if a != nil {
		c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash = slices.Clone(a.Input), a.Output, a.Success, a.TimeCost,
			slices.Clone(a.Metadata), a.Hash
	}
}

// AmendmentOf returns an amendment with the members of the call.
func AmendmentOf(c *Call) *Amendment {
	return &Amendment{c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash}
}

// Cost is a call's share of model requests. Calls can share a request, and a call can need several.
type Cost struct {
	Requests         float64 `json:"requests,omitzero"`
	PromptTokens     int64   `json:"prompt_tokens,omitzero"`
	CompletionTokens int64   `json:"completion_tokens,omitzero"`
}

// Add returns the sum of both costs.
func (c Cost) Add(o Cost) Cost {
	return Cost{c.Requests + o.Requests, c.PromptTokens + o.PromptTokens, c.CompletionTokens + o.CompletionTokens}
}

// Overruled is a verdict that a person corrected. It is kept to measure the judge.
type Overruled struct {
	State        EvaluationState `json:"state"`
	Score        float64         `json:"score"`
	JudgedBy     string          `json:"judged_by,omitzero"`
	Rule         string          `json:"rule,omitzero"`
	JudgeVersion string          `json:"judge_version,omitzero"`
}

// PendingEvaluation returns the evaluation of a call that has not been judged.
func PendingEvaluation() Evaluation { return Evaluation{State: Pending} }
