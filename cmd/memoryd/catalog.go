package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
	"memoryd/guidelines"
	"memoryd/guidelines/revisions"
	"memoryd/ops"
	"memoryd/store"
)

// catalog lists the ops that a flow can name.
func (a *app) catalog(reader ops.MemoryReader) ops.Catalog {
	return ops.Catalog{
		"validate_tool_call_result_op": func(s ops.Spec) (ops.Op, error) {
			var limits ops.Limits
			if err := s.Params(&limits); err != nil {
				return nil, err
			}
			return ops.ValidateToolCallResult{Limits: limits, Now: time.Now}, limits.Validate()
		},
		"parse_tool_call_result_op": func(s ops.Spec) (ops.Op, error) {
			var params ops.ParseParams
			if err := s.Params(&params); err != nil {
				return nil, err
			}
			desk, err := a.desk(s.LLM, params)
			if err != nil {
				return nil, err
			}
			return ops.ParseToolCallResult{
				Params: params, Wait: a.cfg.Evaluate.Wait, Judge: desk, Store: a.store, Reader: reader,
			}, params.Validate()
		},
		"load_tool_memory_op": func(ops.Spec) (ops.Op, error) {
			return ops.LoadToolMemory{Store: a.store}, nil
		},
		"summary_tool_memory_op": func(s ops.Spec) (ops.Op, error) {
			var params ops.SummaryParams
			if err := s.Params(&params); err != nil {
				return nil, err
			}
			composer, err := a.composer(s.LLM, params)
			if err != nil {
				return nil, err
			}
			a.curator = &revisions.Manager{
				Store: a.store, Composer: composer, Recent: params.RecentCallCount, Config: a.cfg.Curate, Now: time.Now,
				Index: a.index(),
			}
			return ops.SummaryToolMemory{
				Logger: a.log,
				Params: params, Curator: a.curator, Reader: reader, Note: a.noteFailedSummary,
			}, params.Validate()
		},
		"retrieve_tool_memory_op": func(ops.Spec) (ops.Op, error) {
			return ops.RetrieveToolMemory{Reader: reader, Shelf: shelf{a}}, nil
		},
		"vector_store_op": func(s ops.Spec) (ops.Op, error) {
			var params ops.VectorStoreParams
			if err := s.Params(&params); err != nil {
				return nil, err
			}
			return ops.VectorStore{Mover: a.mover(params.DumpDir, reader.Recent), Reader: reader}, nil
		},
		"preflight_tool_call_op": func(ops.Spec) (ops.Op, error) {
			a.priors = revisions.NewPriors(a.store, a.log, time.Now)
			a.forecaster = ops.NewForecaster(a.store, a.priors, a.log, time.Now)
			return ops.PreflightToolCall{Forecaster: a.forecaster}, nil
		},
		"compact_conversation_op": func(s ops.Spec) (ops.Op, error) {
			var params ops.CompactParams
			if err := s.Params(&params); err != nil {
				return nil, err
			}
			a.compactor = a.newCompactor(s.LLM, params)
			return ops.CompactConversation{Compactor: measuredCompactor{a.compactor, a.metrics}}, params.Validate()
		},
	}
}

// recent is the size of the recent window, which summaries and statistics
// share.
func (a *app) recent() (int, error) {
	for name, op := range a.cfg.Specs() {
		if op.Backend != "summary_tool_memory_op" {
			continue
		}
		var params ops.SummaryParams
		if err := op.Params(&params); err != nil {
			return 0, fmt.Errorf("op.%s: %w", name, err)
		}
		return params.RecentCallCount, nil
	}
	return 0, fmt.Errorf("op: no entry has the backend summary_tool_memory_op")
}

// desk builds the judge's desk of an op and takes it into the app's care.
func (a *app) desk(llmName string, params ops.ParseParams) (*evaluate.Desk, error) {
	var model memoryd.Model
	if m := a.models.forOp(llmName, "evaluate", params.EvaluationSleepInterval); m != nil {
		model = a.book.Limited(m)
	}
	d, err := evaluate.NewDesk(a.cfg.Evaluate, rules.New(a.cfg.Evaluate.Rules), model, ledger{a.store, a.log}, a.log, time.Now)
	if err != nil {
		return nil, err
	}
	d.Observe(a.judged)
	a.desks = append(a.desks, d)
	a.judge = d.Describe()
	return d, nil
}

// composer writes guidelines with the op's model, where there is one.
func (a *app) composer(llmName string, params ops.SummaryParams) (revisions.Composer, error) {
	m := a.models.forOp(llmName, "summary", params.SummarySleepInterval)
	if m == nil {
		return guidelines.NewRules(a.cfg.Guidelines), nil
	}
	author, err := guidelines.NewModel(a.cfg.Guidelines, a.book.Limited(m))
	if err != nil {
		return nil, err
	}
	author.Observe = a.noteReview
	return author, nil
}

// noteReview says what was kept of a model's guideline, and why the rest was
// dropped.
func (a *app) noteReview(ctx context.Context, ref memoryd.ToolRef, r guidelines.Review) {
	a.log.InfoContext(ctx, "model's guideline reviewed", "workspace", ref.Workspace, "tool", ref.Tool, "kept", r.Kept, "dropped", r.Dropped)
}

func (a *app) noteFailedSummary(ctx context.Context, ref memoryd.ToolRef, err error) {
	a.log.WarnContext(ctx, "guideline not written", "workspace", ref.Workspace, "tool", ref.Tool, "err", err)
}

// ledger is the store as the desk knows it.
type ledger struct {
	store.Store
	log *slog.Logger
}

// Settle implements evaluate.Ledger.
func (l ledger) Settle(ctx context.Context, settled []evaluate.Settlement) ([]bool, error) {
	verdicts := make([]store.Verdict, len(settled))
	for i, s := range settled {
		verdicts[i] = store.Verdict(s)
	}
	written, err := l.Store.Settle(ctx, verdicts)
	if err == nil {
		logWaiting(ctx, l.log, verdicts, written)
	}
	return written, err
}

// shelf is the curator, which an op made after this one may bring.
type shelf struct{ a *app }

// Show implements ops.Shelf.
func (s shelf) Show(ctx context.Context, tool memoryd.Tool, session string, maxTokens int) (memoryd.Guideline, error) {
	return s.a.curator.Show(ctx, tool, session, maxTokens)
}
