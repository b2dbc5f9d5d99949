package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/api"
	"memoryd/compact"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/guidelines/effect"
	"memoryd/internal/lifecycle"
	"memoryd/internal/telemetry/metrics"
	"memoryd/internal/telemetry/trace"
	"memoryd/llm"
	"memoryd/ops"
	"memoryd/store"
	"memoryd/store/qdrant"
	"memoryd/store/sqlite"
)

// measure lets the metrics see the store and what is asked of it.
func (a *app) measure(s store.Store) store.Store {
	a.metrics = metrics.New(metrics.Build{Version: version, Commit: commit()})
	switch known := s.(type) {
	case *sqlite.Store:
		metrics.Pull(a.metrics, known.State)
	case *qdrant.Store:
		a.qdrant = known
		metrics.Pull(a.metrics, known.State)
	}
	return metrics.Store(s, a.metrics)
}

// measureParts lets the metrics ask the parts that keep counts of their own.
func (a *app) measureParts() {
	a.metrics.Panics(a.panics.Counts)
	metrics.Pull(a.metrics, a.judge.Stats)
	metrics.Pull(a.metrics, a.agreement.Counts)
	metrics.Pull(a.metrics, a.refresher.State)
	metrics.PullEach(a.metrics, "source", a.intake.Counts)
	metrics.PullEach(a.metrics, "model", func() map[string]llm.Stats {
		states := map[string]llm.Stats{}
		for name, client := range a.models {
			states[name] = client.Stats()
		}
		return states
	})
}

// measuredCompactor counts what a compactor does.
type measuredCompactor struct {
	*compact.Compactor
	alone   *compact.Compactor // uses no model
	barred  func(workspace string) bool
	metrics *metrics.Registry
}

// Compact implements ops.CompactConversation's Compactor.
func (m measuredCompactor) Compact(ctx context.Context, r compact.Request) (compact.Result, error) {
	start := time.Now()
	compactor := m.Compactor
	if m.barred(cmp.Or(r.Workspace, memoryd.DefaultWorkspace)) {
		compactor = m.alone
	}
	res, err := compactor.Compact(ctx, r)
	outcome := "unchanged"
	switch {
	case err != nil:
		outcome = "refused"
	case res.Compacted && len(res.Report.ModelFailures) > 0:
		outcome = "extract"
	case res.Compacted:
		outcome = "compacted"
	case res.Reason == compact.ModelFailed, res.Reason == compact.StoreFailed, res.Reason == compact.InvalidResult:
		outcome = "failed"
	}
	m.metrics.Compaction(cmp.Or(triggers[res.Reason], "none"), outcome, res.Report.TokensBefore-res.Report.TokensAfter, time.Since(start))
	return res, err
}

// triggers are the words of the metrics for what began a compaction.
var triggers = map[compact.Reason]string{
	compact.ForTokens: "tokens", compact.ForFraction: "tokens", compact.ForMessages: "messages", compact.ForBuffer: "profile",
	compact.ForAge: "profile", compact.Forced: "asked",
}

// newTracer makes the tracer, and lets the log tell of traces.
func (a *app) newTracer() (err error) {
	if a.tracer, err = trace.New(a.cfg.Trace, trace.Build{Version: version}, a.log); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	a.runs(func(context.Context) { a.tracer.Start() }, a.tracer.Stop)
	a.log = a.tracer.Log(a.log)
	return nil
}

// requestTracer follows requests and their ops.
type requestTracer interface {
	api.Tracer
	ops.Tracer
}

// traceRequests is nil when tracing is off: then nothing is asked on the way of a request.
func (a *app) traceRequests() requestTracer {
	if a.tracer == nil {
		return nil
	}
	return a.tracer
}

// attempt traces a request to a model, measures it and enters it into the ledger.
func (a *app) attempt(ctx context.Context, t memoryd.Attempt) (context.Context, func(memoryd.Attempt)) {
	ctx, end := a.tracer.Attempt(ctx, t)
	return ctx, func(t memoryd.Attempt) {
		end(t)
		a.metrics.ModelRequest(t, a.prices[t.Model].Cost(t.Usage))
		if t.Outcome != "cancelled" || t.Usage != (memoryd.Usage{}) {
			a.ledger.Attempt(t.Workspace, t.Tool, t.Op, t.Model, t.Outcome == "ok", t.Usage)
		}
	}
}

// judged hears of each verdict: the ledger counts it, the comparison of judges takes it in.
func (a *app) judged(e evaluate.Event) {
	if e.Evaluation.State == memoryd.Pending {
		logWaiting(a.log, &e)
		return
	}
	a.ledger.Verdict(e.ToolRef, e.Evaluation.JudgedBy)
	a.agreement.Judged(e.Said, e.Ruled)
	logVerdict(a.log, &e)
	if e.Evaluation.State == memoryd.Judged {
		a.metrics.Judged(effect.SideOf(e.Metadata).String(), labels[e.Evaluation.Score])
		by, _, _ := strings.Cut(e.Evaluation.JudgedBy, ":")
		a.tracer.Evaluated(trace.Evaluation{
			Workspace: e.Workspace, Tool: e.Tool, Call: e.Key, Score: e.Evaluation.Score, Label: labels[e.Evaluation.Score], By: by,
		})
	}
}

// labels say what scores mean.
var labels = map[float64]string{memoryd.ScoreFailure: "failed", memoryd.ScorePartial: "partial", memoryd.ScoreSuccess: "succeeded"}

// corrected hears of each verdict that a person gave.
func (a *app) corrected(ctx context.Context, before memoryd.Call, after memoryd.Evaluation) {
	a.ledger.Verdict(before.ToolRef, after.JudgedBy)
	a.agreement.Overruled(before.Evaluation, after)
	if err := a.judge.Overruled(ctx, before, after); err != nil {
		a.log.WarnContext(ctx, "cannot apply a correction to equal calls", "workspace", before.Workspace, "tool", before.Tool, "err", err)
	}
	a.log.InfoContext(ctx, "verdict corrected", "workspace", before.Workspace, "tool", before.Tool, "call", before.Key.String(),
		"from", before.Evaluation.Score, "was_by", before.Evaluation.JudgedBy,
		"to", after.Score, "by", after.JudgedBy, "reason", after.Evaluation)
}

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

// logWaiting says of a call that a try to judge it was in vain, and when the next one comes.
func logWaiting(log *slog.Logger, e *evaluate.Event) {
	if v := &e.Evaluation; v.State == memoryd.Pending {
		log.LogAttrs(context.Background(), slog.LevelDebug, "call is waiting for its judge", append(callAttrs(e.ToolRef, e.Key),
			slog.String("state", string(v.State)), slog.Int("attempts", v.Attempts), slog.Time("next", v.NotBefore),
			slog.String("error", v.LastError))...)
	}
}

func callAttrs(ref memoryd.ToolRef, key memoryd.CallKey) []slog.Attr {
	return []slog.Attr{slog.String("workspace", ref.Workspace), slog.String("tool", ref.Tool), slog.String("call", key.String())}
}

// Bounds of what the log may hold back, and how long its end waits for a slow reader.
const (
	logLines = 4096
	logBytes = 4 << 20
	logEnd   = time.Second
)

// logWriter writes the log in the background, so that a pipe that nobody reads delays
// nobody. What has no room is dropped, counted, and told once there is room again.
type logWriter struct {
	out   io.Writer
	tell  *slog.Logger // writes to out at once
	lines chan []byte
	end   func() // Stop was called
	ended <-chan struct{}
	done  <-chan error

	bytes, dropped atomic.Int64
}

// startLog begins to write to out, in the form of the configuration.
func startLog(cfg config.Log, out io.Writer) *logWriter {
	ctx, end := context.WithCancel(context.Background())
	w := &logWriter{out: out, tell: newLogger(cfg, out), lines: make(chan []byte, logLines), end: end, ended: ctx.Done()}
	w.done = lifecycle.Go(context.Background(), w.tell, "log", w.run)
	return w
}

// Write accepts a line. It never waits and never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	size := int64(len(line))
	if w.bytes.Add(size) <= logBytes {
		select {
		case w.lines <- bytes.Clone(line):
			return len(line), nil
		default:
		}
	}
	w.bytes.Add(-size)
	w.dropped.Add(1)
	return len(line), nil
}

// Stop writes the waiting lines, for at most logEnd.
func (w *logWriter) Stop() {
	w.end()
	select {
	case <-w.done:
	case <-time.After(logEnd):
	}
}

func (w *logWriter) run() error {
	for {
		select {
		case line := <-w.lines:
			w.write(line)
		case <-w.ended:
			for len(w.lines) > 0 {
				w.write(<-w.lines)
			}
			return nil
		}
	}
}

func (w *logWriter) write(line []byte) {
	_, _ = w.out.Write(line) // there is nowhere to tell
	w.bytes.Add(-int64(len(line)))
	if n := w.dropped.Swap(0); n > 0 {
		w.tell.Warn("dropped log lines: the reader of the log is too slow", "lines", n)
	}
}
