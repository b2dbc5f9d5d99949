package main

import (
	"context"
	"log/slog"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/llm"
)

// attempted enters a request to a model into the ledger.
func (a *app) attempted(t llm.Attempt) {
	a.measureAttempt(t)
	if t.Outcome == "cancelled" && t.Usage == (memoryd.Usage{}) {
		return
	}
	a.book.Attempt(t.Workspace, t.Tool, t.Op, t.Model, t.Outcome == "ok", t.Usage)
}

// judged hears of each verdict: the ledger counts it, the watch compares it.
func (a *app) judged(e evaluate.Event) {
	a.book.Verdict(e.ToolRef, e.Evaluation.JudgedBy)
	a.monitor.Note(e.ToolRef, e.Said, e.Ruled)
	logVerdict(a.log, &e)
}

// corrected hears of each verdict that a person gave.
func (a *app) corrected(ctx context.Context, before memoryd.Call, after memoryd.Evaluation) {
	a.book.Verdict(before.ToolRef, after.JudgedBy)
	a.monitor.Overruled(before.Evaluation, after)
	if err := a.judge.Overruled(ctx, before, after); err != nil {
		a.log.WarnContext(ctx, "equal calls will not take a person's verdict", "workspace", before.Workspace, "tool", before.Tool, "err", err)
	}
	a.log.InfoContext(ctx, "verdict corrected", "workspace", before.Workspace, "tool", before.Tool, "call", before.Key.String(),
		slog.Float64("from", before.Evaluation.Score), slog.String("was_by", before.Evaluation.JudgedBy),
		slog.Float64("to", after.Score), slog.String("by", after.JudgedBy), slog.String("reason", after.Evaluation))
}
