package backup

import (
	"time"

	"memoryd"
)

type callLine struct {
	Key        key            `json:"key"`
	Seq        int64          `json:"seq"`
	Input      *text          `json:"input,omitzero"`
	Output     *text          `json:"output,omitzero"`
	Success    bool           `json:"success"`
	TimeCost   number         `json:"time_cost"`
	TokenCost  int64          `json:"token_cost"`
	CreateTime text           `json:"create_time,omitzero"`
	Time       instant        `json:"time,omitzero"`
	Metadata   *text          `json:"metadata,omitzero"`
	Hash       text           `json:"hash,omitzero"`
	Evaluation evaluationLine `json:"evaluation"`
}

type evaluationLine struct {
	State        memoryd.EvaluationState `json:"state"`
	Score        number                  `json:"score,omitzero"`
	Summary      text                    `json:"summary,omitzero"`
	Evaluation   text                    `json:"evaluation,omitzero"`
	JudgedBy     text                    `json:"judged_by,omitzero"`
	Rule         text                    `json:"rule,omitzero"`
	JudgeVersion text                    `json:"judge_version,omitzero"`
	JudgedAt     instant                 `json:"judged_at,omitzero"`
	FailedChecks text                    `json:"failed_checks,omitzero"`
	Cost         *costLine               `json:"cost,omitzero"`
	Overruled    *overruledLine          `json:"overruled,omitzero"`
	Attempts     int                     `json:"attempts,omitzero"`
	LastError    text                    `json:"last_error,omitzero"`
	NotBefore    instant                 `json:"not_before,omitzero"`
}

type costLine struct {
	Requests         number `json:"requests"`
	PromptTokens     int64  `json:"prompt_tokens"`
	CompletionTokens int64  `json:"completion_tokens"`
}

type overruledLine struct {
	State        text   `json:"state"`
	Score        number `json:"score"`
	JudgedBy     text   `json:"judged_by,omitzero"`
	Rule         text   `json:"rule,omitzero"`
	JudgeVersion text   `json:"judge_version,omitzero"`
}

func callLineOf(c *memoryd.Call) *callLine {
	return &callLine{
		Key: key(c.Key), Seq: c.Seq, Input: raw(c.Input), Output: raw([]byte(c.Output)), Success: c.Success,
		TimeCost: numberOf(c.TimeCost), TokenCost: c.TokenCost, CreateTime: text(c.CreateTime), Time: instantOf(c.Time),
		Metadata: raw(c.Metadata), Hash: text(c.Hash), Evaluation: evaluationLineOf(&c.Evaluation),
	}
}

func (l *callLine) call(ref memoryd.ToolRef) memoryd.Call {
	return memoryd.Call{
		Key: memoryd.CallKey(l.Key), ToolRef: ref, Seq: l.Seq, Input: l.Input.bytes(), Output: string(l.Output.bytes()),
		Success: l.Success, TimeCost: float64(l.TimeCost), TokenCost: l.TokenCost, CreateTime: string(l.CreateTime),
		Time: time.Time(l.Time), Metadata: l.Metadata.bytes(), Hash: string(l.Hash), Evaluation: l.Evaluation.evaluation(),
	}
}

func evaluationLineOf(e *memoryd.Evaluation) evaluationLine {
	l := evaluationLine{
		State: e.State, Score: numberOf(e.Score), Summary: text(e.Summary), Evaluation: text(e.Evaluation),
		JudgedBy: text(e.JudgedBy), Rule: text(e.Rule), JudgeVersion: text(e.JudgeVersion), JudgedAt: instantOf(e.JudgedAt),
		FailedChecks: text(e.FailedChecks), Attempts: e.Attempts, LastError: text(e.LastError), NotBefore: instantOf(e.NotBefore),
	}
	if c := e.Cost; c != (memoryd.Cost{}) {
		l.Cost = &costLine{numberOf(c.Requests), c.PromptTokens, c.CompletionTokens}
	}
	if o := e.Overruled; o != nil {
		l.Overruled = &overruledLine{text(o.State), numberOf(o.Score), text(o.JudgedBy), text(o.Rule), text(o.JudgeVersion)}
	}
	return l
}

func (l *evaluationLine) evaluation() memoryd.Evaluation {
	e := memoryd.Evaluation{
		State: l.State, Score: float64(l.Score), Summary: string(l.Summary), Evaluation: string(l.Evaluation),
		JudgedBy: string(l.JudgedBy), Rule: string(l.Rule), JudgeVersion: string(l.JudgeVersion),
		JudgedAt: time.Time(l.JudgedAt), FailedChecks: string(l.FailedChecks), Attempts: l.Attempts,
		LastError: string(l.LastError), NotBefore: time.Time(l.NotBefore),
	}
	if c := l.Cost; c != nil {
		e.Cost = memoryd.Cost{Requests: float64(c.Requests), PromptTokens: c.PromptTokens, CompletionTokens: c.CompletionTokens}
	}
	if o := l.Overruled; o != nil {
		e.Overruled = &memoryd.Overruled{
			State: memoryd.EvaluationState(o.State), Score: float64(o.Score), JudgedBy: string(o.JudgedBy),
			Rule: string(o.Rule), JudgeVersion: string(o.JudgeVersion),
		}
	}
	return e
}
