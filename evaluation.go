package memoryd

import (
	"encoding/json"
	"slices"
	"time"
)

// EvaluationState says how far the judging of a call has come.
type EvaluationState string

// The states. Pending is retried in the background; Failed is final unless a
// person or a forced run asks again.
const (
	Pending EvaluationState = "pending"
	Judged  EvaluationState = "judged"
	Failed  EvaluationState = "failed"
)

// The three scores that a judge may give.
const (
	ScoreFailure = 0.0 // execution failed, or the parameters did not fit at all
	ScorePartial = 0.5 // it ran, with issues
	ScoreSuccess = 1.0 // it ran well and the parameters fitted
)

// Who judged, as Evaluation.JudgedBy says it. A model is "llm:" and its name, a
// person "person:" and the name that was given.
const (
	JudgedByRules = "rules"
	JudgedByCache = "cache"

	PersonPrefix = "person:"
	// KindPrefix stands before who judged the kind of the output: "kind:llm:<model>",
	// "kind:person:<name>".
	KindPrefix = "kind:"
)

// Evaluation is what a judge said of a call.
type Evaluation struct {
	State EvaluationState
	// Score is one of the three scores; it means something only when Judged.
	Score float64
	// Summary is one line: what happened. Evaluation is a short reasoned text.
	Summary    string
	Evaluation string
	// JudgedBy is "rules", "cache", "llm:<model>" or "person:<name>"; "" while
	// pending.
	JudgedBy string
	// Rule names the rule that decided, when rules did.
	Rule string
	// JudgeVersion identifies the judge's model, prompt and settings, so that
	// verdicts of different judges can be told apart.
	JudgeVersion string
	// JudgedAt is when the verdict was reached.
	JudgedAt time.Time
	// FailedChecks names the binary checks of a model's verdict that the call did
	// not pass, in the order of the checks, with a space between them.
	FailedChecks string
	// Cost is what the model was asked for this call.
	Cost Cost
	// Overruled is the verdict that a person's replaced; nil when none did.
	Overruled *Overruled

	// Attempts counts the tries that failed so far, LastError says why the
	// newest did, and NotBefore is when the next may start.
	Attempts  int
	LastError string
	NotBefore time.Time
}

// Settlement is an evaluation for one stored call.
type Settlement struct {
	ToolRef
	Key        CallKey
	Evaluation Evaluation
	// Amendment is what else changes with the evaluation; nil is nothing. Only
	// store.Verdicts.Override takes one.
	Amendment *Amendment
}

// Amendment is what a stored call is when a further source told of it, in the place
// of what stood there. Its key, number, time, tool and run stay: Metadata names the run
// that the call named, if any.
type Amendment struct {
	Input    json.RawMessage
	Output   string
	Success  bool
	TimeCost float64
	Metadata json.RawMessage
	Hash     string
}

// Apply gives the call its amended members.
func (a *Amendment) Apply(c *Call) {
	if a != nil {
		c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash = slices.Clone(a.Input), a.Output, a.Success, a.TimeCost, slices.Clone(a.Metadata), a.Hash
	}
}

// AmendmentOf is what of a call an amendment holds.
func AmendmentOf(c *Call) *Amendment {
	return &Amendment{c.Input, c.Output, c.Success, c.TimeCost, c.Metadata, c.Hash}
}

// Cost is the share of one call in requests to a model. Several calls may share
// a request, and a call may need more than one.
type Cost struct {
	Requests         float64
	PromptTokens     int64
	CompletionTokens int64
}

// Add gives the sum.
func (c Cost) Add(o Cost) Cost {
	return Cost{c.Requests + o.Requests, c.PromptTokens + o.PromptTokens, c.CompletionTokens + o.CompletionTokens}
}

// Overruled is a judge's verdict that a person corrected, kept to measure the
// judge by.
type Overruled struct {
	State        EvaluationState
	Score        float64
	JudgedBy     string
	Rule         string
	JudgeVersion string
}

// PendingEvaluation is the evaluation of a call that waits for its judge.
func PendingEvaluation() Evaluation { return Evaluation{State: Pending} }
