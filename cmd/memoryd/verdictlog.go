package main

import (
	"context"
	"log/slog"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/store"
)

// Three lines of the log hold a call's id, as "call": this one, that of a try in
// vain and that of a correction (see app.corrected). Together they say why the
// call has the score that it has.

// logVerdict says why a call got its score, or why it never will, and what that
// cost.
func logVerdict(log *slog.Logger, e *evaluate.Event) {
	if !log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	v := &e.Evaluation
	attrs := append(callAttrs(e.ToolRef, e.Key),
		slog.String("state", string(v.State)), slog.Float64("score", v.Score), slog.String("by", v.JudgedBy),
		slog.String("rule", v.Rule), slog.String("version", v.JudgeVersion), slog.String("failed_checks", v.FailedChecks),
		slog.Float64("judge_said", e.Said.Score), slog.Float64("rules_said", e.Ruled.Score), slog.Bool("rules_sure", e.Sure),
		slog.Int("attempts", v.Attempts), slog.Float64("requests", v.Cost.Requests),
		slog.Int64("prompt_tokens", v.Cost.PromptTokens), slog.Int64("completion_tokens", v.Cost.CompletionTokens),
		slog.String("summary", v.Summary), slog.String("reason", v.Evaluation), slog.String("error", v.LastError))
	log.LogAttrs(context.Background(), slog.LevelDebug, "call judged", attrs...)
}

// logWaiting says of calls that a try to judge them was in vain, and when the next
// one comes.
func logWaiting(ctx context.Context, log *slog.Logger, verdicts []store.Verdict, written []bool) {
	if !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	for i := range verdicts {
		v := &verdicts[i].Evaluation
		if v.State != memoryd.Pending || v.LastError == "" || i >= len(written) || !written[i] {
			continue
		}
		attrs := append(callAttrs(verdicts[i].ToolRef, verdicts[i].Key), slog.String("state", string(v.State)),
			slog.Int("attempts", v.Attempts), slog.Time("next", v.NotBefore), slog.String("error", v.LastError))
		log.LogAttrs(ctx, slog.LevelDebug, "call waits for its judge", attrs...)
	}
}

func callAttrs(ref memoryd.ToolRef, key memoryd.CallKey) []slog.Attr {
	return []slog.Attr{slog.String("workspace", ref.Workspace), slog.String("tool", ref.Tool), slog.String("call", key.String())}
}
