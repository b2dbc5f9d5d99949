package memoryd

import "time"

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

// Who judged, as Evaluation.JudgedBy says it. A model is "llm:" and its name.
const (
	JudgedByRules = "rules"
	JudgedByCache = "cache"
)

// Evaluation is what a judge said of a call.
type Evaluation struct {
	State EvaluationState
	// Score is one of the three scores; it means something only when Judged.
	Score float64
	// Summary is one line: what happened. Evaluation is a short reasoned text.
	Summary    string
	Evaluation string
	// JudgedBy is "rules", "cache" or "llm:<model>"; "" while pending.
	JudgedBy string
	// Rule names the rule that decided, when rules did.
	Rule string
	// JudgeVersion identifies the judge's model, prompt and settings, so that
	// verdicts of different judges can be told apart.
	JudgeVersion string
	// JudgedAt is when the verdict was reached.
	JudgedAt time.Time

	// Attempts counts the tries that failed so far, LastError says why the
	// newest did, and NotBefore is when the next may start.
	Attempts  int
	LastError string
	NotBefore time.Time
}

// PendingEvaluation is the evaluation of a call that waits for its judge.
func PendingEvaluation() Evaluation { return Evaluation{State: Pending} }
