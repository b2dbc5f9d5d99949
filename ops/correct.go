package ops

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"strings"
	"time"

	"memoryd"
	"memoryd/internal/textsafe"
	"memoryd/store"
)

// Correction is a person's verdict on a call.
type Correction struct {
	// Score is 0, 0.5 or 1.
	Score float64
	// Summary and Evaluation replace the judge's texts; "" inserts a standard sentence.
	Summary, Evaluation string
	// By is the name of the person; it may be empty.
	By string
}

// Limits of a correction's texts, in bytes.
const (
	maxCorrectedSummary    = 500
	maxCorrectedEvaluation = 4000
	maxPersonName          = 100
)

// CorrectionKind is the record kind of labelled calls.
const CorrectionKind = "correction"

func correctionKey(ref memoryd.ToolRef, call memoryd.CallKey) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: CorrectionKind, ID: call.String()}
}

// CorrectCall requests a new evaluation of a stored call.
type CorrectCall struct {
	memoryd.ToolRef
	Correction

	Key memoryd.CallKey
}

// correct lets a person correct an evaluation. What people say beats the judge,
// and is kept with the call as a labelled example to measure judges by.
func (d *Deps) correct(ctx context.Context, r CorrectCall) (out StoredCall, err error) {
	if err := r.check(); err != nil {
		return out, err
	}
	r.Summary, r.Evaluation, r.By = d.Redaction.Text(ctx, r.Summary), d.Redaction.Text(ctx, r.Evaluation), d.Redaction.Text(ctx, r.By)
	before, err := d.Store.Call(ctx, r.ToolRef, r.Key)
	if err != nil {
		return out, err
	}
	call := before
	call.Evaluation = r.evaluation(before.Evaluation, d.Now())
	// The example first: one without its verdict says nothing wrong.
	line, err := labelledCall(&call)
	if err != nil {
		return out, err
	}
	if _, err = d.Store.PutRecord(ctx, store.Record{
		RecordKey: correctionKey(r.ToolRef, r.Key), Revision: store.AnyRevision, Data: line,
	}); err != nil {
		return out, err
	}
	if _, err := d.Store.Override(ctx, store.Verdict{ToolRef: r.ToolRef, Key: r.Key, Evaluation: call.Evaluation}); err != nil {
		return out, err
	}
	d.Corrected(ctx, before, call.Evaluation)
	d.Survey.Changed(r.ToolRef)
	return d.getCall(ctx, GetCall{r.ToolRef, r.Key})
}

func (c Correction) check() error {
	switch {
	case c.Score != memoryd.ScoreFailure && c.Score != memoryd.ScorePartial && c.Score != memoryd.ScoreSuccess:
		return memoryd.Errorf(memoryd.Invalid, "score: must be 0, 0.5 or 1")
	case len(c.Summary) > maxCorrectedSummary:
		return memoryd.Errorf(memoryd.Invalid, "summary: at most %d bytes", maxCorrectedSummary)
	case len(c.Evaluation) > maxCorrectedEvaluation:
		return memoryd.Errorf(memoryd.Invalid, "evaluation: at most %d bytes", maxCorrectedEvaluation)
	case !textsafe.IsLabel(c.By, maxPersonName):
		return memoryd.Errorf(memoryd.Invalid, "by: at most %d bytes without control characters", maxPersonName)
	}
	return nil
}

// evaluation is the verdict as it is stored. The judge's own stays known, also
// when a person is corrected by another.
func (c Correction) evaluation(old memoryd.Evaluation, now time.Time) memoryd.Evaluation {
	e := memoryd.Evaluation{
		State: memoryd.Judged, Score: c.Score, Summary: c.Summary, Evaluation: c.Evaluation,
		JudgedBy: memoryd.PersonPrefix + cmp.Or(c.By, "unnamed"), JudgedAt: now, Cost: old.Cost, Overruled: overruling(&old),
	}
	if strings.HasPrefix(old.JudgedBy, memoryd.PersonPrefix) {
		e.Overruled = old.Overruled
	}
	if e.Summary == "" {
		e.Summary = "A person judged the call a " + map[float64]string{0: "failure", 0.5: "partial success", 1: "success"}[c.Score] + "."
	}
	return e
}

// overruling is what stays known of a verdict that a person overrules.
func overruling(e *memoryd.Evaluation) *memoryd.Overruled {
	return &memoryd.Overruled{State: e.State, Score: e.Score, JudgedBy: e.JudgedBy, Rule: e.Rule, JudgeVersion: e.JudgeVersion}
}

// reinstated is the verdict that a person had overruled.
func reinstated(o *memoryd.Overruled, at time.Time) memoryd.Evaluation {
	return memoryd.Evaluation{
		State: memoryd.Judged, Score: o.Score, JudgedBy: o.JudgedBy, Rule: o.Rule, JudgeVersion: o.JudgeVersion, JudgedAt: at,
		Summary: "The judge's verdict; a correction was undone.",
	}
}

// labelledCall is a call as "memoryd evaluate" reads it.
func labelledCall(c *memoryd.Call) ([]byte, error) {
	gold := map[float64]string{0: "error", 0.5: "partial", 1: "ok"}[c.Evaluation.Score]
	call := *c
	call.Metadata = memoryd.WithMembers(c.Metadata, map[string]any{"gold": gold, "gold_from": "person"})
	return memoryd.MarshalCallLine(&call)
}

// ListCorrections requests the corrected calls of a workspace.
type ListCorrections struct{ Workspace string }

// Corrections writes labelled calls as JSON lines, sorted by tool and id. They are read on demand.
type Corrections = func(w io.Writer) error

func (d *Deps) listCorrections(ctx context.Context, r ListCorrections) (Corrections, error) {
	return func(w io.Writer) error {
		return store.Each(store.AllTools(ctx, d.Store, r.Workspace), func(t memoryd.Tool) error {
			of := store.AllRecords(ctx, d.Store, store.RecordKey{ToolRef: t.ToolRef, Kind: CorrectionKind})
			return store.Each(of, func(r store.Record) error {
				_, err := w.Write(append(bytes.TrimSpace(r.Data), '\n'))
				return err
			})
		})
	}, nil
}

// Withdraw requests to remove a person's verdict from a stored call.
type Withdraw struct {
	memoryd.ToolRef

	Key memoryd.CallKey
}

// withdraw lets the judge's verdict hold again: what the rules, or the cache, say of
// the call now where they are sure, else the score that the person overruled.
func (d *Deps) withdraw(ctx context.Context, r Withdraw) (out StoredCall, err error) {
	call, err := d.Store.Call(ctx, r.ToolRef, r.Key)
	if err != nil {
		return out, err
	}
	was := call.Evaluation
	if was.Overruled == nil || !strings.HasPrefix(was.JudgedBy, memoryd.PersonPrefix) {
		return out, memoryd.Errorf(memoryd.Conflict, "this call has no correction")
	}
	if err := d.Judge.Withdrawn(ctx, call); err != nil {
		return out, err
	}
	judged := []memoryd.Call{call}
	judged[0].Evaluation = memoryd.PendingEvaluation()
	d.Judge.Prejudge(ctx, judged)
	e := judged[0].Evaluation
	if e.State != memoryd.Judged {
		e = reinstated(was.Overruled, d.Now())
		e.Cost = was.Cost
	}
	if _, err := d.Store.Override(ctx, store.Verdict{ToolRef: r.ToolRef, Key: r.Key, Evaluation: e}); err != nil {
		return out, err
	}
	d.Survey.Changed(r.ToolRef)
	if err := d.Store.DeleteRecord(ctx, correctionKey(r.ToolRef, r.Key)); err != nil {
		return out, err
	}
	return d.getCall(ctx, GetCall(r))
}
