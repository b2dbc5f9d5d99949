package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"memoryd"
	"memoryd/store"
)

// Correction is a person's verdict on a call.
type Correction struct {
	// Score is 0, 0.5 or 1.
	Score float64
	// Summary and Evaluation replace the judge's; "" puts a plain sentence there.
	Summary, Evaluation string
	// By names the person; "" is somebody unnamed.
	By string
}

// The bounds of a correction's texts, in bytes.
const (
	maxCorrectedSummary    = 500
	maxCorrectedEvaluation = 4000
	maxPersonName          = 100
)

// Corrector lets people correct verdicts. What they say beats the judge, and is
// kept with the call as a labelled example to measure judges by.
type Corrector struct {
	Store interface {
		store.Calls
		store.Tools
		store.Verdicts
		store.Records
	}
	// Told hears of each correction; nil: nobody.
	Told func(ctx context.Context, before memoryd.Call, after memoryd.Evaluation)
	Now  func() time.Time
}

// CorrectionKind is the kind of the records that hold labelled calls.
const CorrectionKind = "correction"

// Correct replaces the verdict of a kept call and returns the call as it is now.
func (c Corrector) Correct(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey, by Correction) (memoryd.Call, error) {
	if err := by.check(); err != nil {
		return memoryd.Call{}, err
	}
	call, err := FindCall(ctx, c.Store, ref, key)
	if err != nil {
		return memoryd.Call{}, err
	}
	before := call
	call.Evaluation = by.evaluation(before.Evaluation, c.Now())
	// The example first: one without its verdict says nothing wrong.
	line, err := json.Marshal(labelledCall(&call))
	if err != nil {
		return memoryd.Call{}, err
	}
	_, err = c.Store.PutRecord(ctx, store.Record{
		RecordKey: store.RecordKey{ToolRef: ref, Kind: CorrectionKind, ID: key.String()},
		Revision:  store.AnyRevision, Data: line,
	})
	if err != nil {
		return memoryd.Call{}, err
	}
	if _, err := c.Store.Override(ctx, store.Verdict{ToolRef: ref, Key: key, Evaluation: call.Evaluation}); err != nil {
		return memoryd.Call{}, err
	}
	if c.Told != nil {
		c.Told(ctx, before, call.Evaluation)
	}
	return call, nil
}

func (c Correction) check() error {
	switch {
	case c.Score != memoryd.ScoreFailure && c.Score != memoryd.ScorePartial && c.Score != memoryd.ScoreSuccess:
		return memoryd.Errorf(memoryd.Invalid, "score: must be 0, 0.5 or 1")
	case len(c.Summary) > maxCorrectedSummary:
		return memoryd.Errorf(memoryd.Invalid, "summary: at most %d bytes", maxCorrectedSummary)
	case len(c.Evaluation) > maxCorrectedEvaluation:
		return memoryd.Errorf(memoryd.Invalid, "evaluation: at most %d bytes", maxCorrectedEvaluation)
	case len(c.By) > maxPersonName || !utf8.ValidString(c.By) || strings.ContainsFunc(c.By, func(r rune) bool { return r < ' ' }):
		return memoryd.Errorf(memoryd.Invalid, "by: at most %d bytes without control characters", maxPersonName)
	}
	return nil
}

// evaluation is the verdict as it is stored. The judge's own stays known, also
// when a person is corrected by another.
func (c Correction) evaluation(old memoryd.Evaluation, now time.Time) memoryd.Evaluation {
	e := memoryd.Evaluation{
		State: memoryd.Judged, Score: c.Score, Summary: c.Summary, Evaluation: c.Evaluation,
		JudgedBy: memoryd.PersonPrefix + c.By, JudgedAt: now, Cost: old.Cost,
		Overruled: &memoryd.Overruled{
			State: old.State, Score: old.Score, JudgedBy: old.JudgedBy, Rule: old.Rule, JudgeVersion: old.JudgeVersion,
		},
	}
	if strings.HasPrefix(old.JudgedBy, memoryd.PersonPrefix) {
		e.Overruled = old.Overruled
	}
	if c.By == "" {
		e.JudgedBy = memoryd.PersonPrefix + "unnamed"
	}
	if e.Summary == "" {
		e.Summary = map[float64]string{0: "A person judged the call a failure.", 0.5: "A person judged the call a partial success."}[c.Score]
		if c.Score == memoryd.ScoreSuccess {
			e.Summary = "A person judged the call a success."
		}
	}
	return e
}

// FindCall gives a kept call of a tool.
func FindCall(ctx context.Context, s store.Calls, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	calls, err := s.History(ctx, ref, 0)
	if err != nil {
		return memoryd.Call{}, err
	}
	for i := range calls {
		if calls[i].Key == key {
			return calls[i], nil
		}
	}
	return memoryd.Call{}, memoryd.Errorf(memoryd.NotFound, "the history of the tool keeps no such call")
}

// labelled is a call as "memoryd evaluate" reads it.
type labelled struct {
	Workspace  string                     `json:"workspace_id"`
	Tool       string                     `json:"tool_name"`
	Input      json.RawMessage            `json:"input"`
	Output     string                     `json:"output"`
	Success    bool                       `json:"success"`
	TimeCost   float64                    `json:"time_cost"`
	TokenCost  int64                      `json:"token_cost"`
	CreateTime string                     `json:"create_time"`
	Metadata   map[string]json.RawMessage `json:"metadata"`
}

func labelledCall(c *memoryd.Call) labelled {
	gold := map[float64]string{0: `"error"`, 0.5: `"partial"`, 1: `"ok"`}[c.Evaluation.Score]
	l := labelled{
		Workspace: c.Workspace, Tool: c.Tool, Input: c.Input, Output: c.Output, Success: c.Success,
		TimeCost: c.TimeCost, TokenCost: c.TokenCost, CreateTime: c.CreateTime,
		Metadata: map[string]json.RawMessage{},
	}
	// Metadata that is no object labels nothing.
	_ = json.Unmarshal(c.Metadata, &l.Metadata)
	if l.Metadata == nil {
		l.Metadata = map[string]json.RawMessage{}
	}
	l.Metadata["gold"] = json.RawMessage(gold)
	l.Metadata["gold_from"] = json.RawMessage(`"person"`)
	if len(l.Input) == 0 {
		l.Input = json.RawMessage(`""`)
	}
	return l
}

// Corrections calls each with the corrected calls of a workspace, one line of
// JSON each, by tool and in the order of their ids.
func (c Corrector) Corrections(ctx context.Context, workspace string, each func(line []byte) error) error {
	for t, err := range store.AllTools(ctx, c.Store, workspace) {
		if err != nil {
			return err
		}
		for r, err := range store.AllRecords(ctx, c.Store, store.RecordKey{ToolRef: t.ToolRef, Kind: CorrectionKind}) {
			if err != nil {
				return err
			}
			if err := each(append(bytes.TrimSpace(r.Data), '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}
