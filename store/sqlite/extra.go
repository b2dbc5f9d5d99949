package sqlite

import (
	"database/sql/driver"
	"encoding/json"

	"memoryd"
)

// extra is what few evaluations have, as JSON in one column that is NULL for the
// others.
type extra struct {
	FailedChecks     string     `json:"failed_checks,omitempty"`
	Requests         float64    `json:"requests,omitempty"`
	PromptTokens     int64      `json:"prompt_tokens,omitempty"`
	CompletionTokens int64      `json:"completion_tokens,omitempty"`
	Overruled        *overruled `json:"overruled,omitempty"`
}

type overruled struct {
	State        string  `json:"state"`
	Score        float64 `json:"score"`
	JudgedBy     string  `json:"judged_by,omitempty"`
	Rule         string  `json:"rule,omitempty"`
	JudgeVersion string  `json:"judge_version,omitempty"`
}

func extraValue(e *memoryd.Evaluation) driver.Value {
	if e.FailedChecks == "" && e.Cost == (memoryd.Cost{}) && e.Overruled == nil {
		return nil
	}
	x := extra{
		FailedChecks: e.FailedChecks, Requests: e.Cost.Requests,
		PromptTokens: e.Cost.PromptTokens, CompletionTokens: e.Cost.CompletionTokens,
	}
	if o := e.Overruled; o != nil {
		x.Overruled = &overruled{string(o.State), o.Score, o.JudgedBy, o.Rule, o.JudgeVersion}
	}
	b, err := json.Marshal(x)
	if err != nil {
		return nil // cannot be: the store refuses numbers that are none
	}
	return string(b)
}

func scanExtra(v driver.Value, e *memoryd.Evaluation) {
	var x extra
	if s := str(v); s == "" || json.Unmarshal([]byte(s), &x) != nil {
		return
	}
	e.FailedChecks = x.FailedChecks
	e.Cost = memoryd.Cost{Requests: x.Requests, PromptTokens: x.PromptTokens, CompletionTokens: x.CompletionTokens}
	if o := x.Overruled; o != nil {
		e.Overruled = &memoryd.Overruled{
			State: memoryd.EvaluationState(o.State), Score: o.Score, JudgedBy: o.JudgedBy, Rule: o.Rule,
			JudgeVersion: o.JudgeVersion,
		}
	}
}
