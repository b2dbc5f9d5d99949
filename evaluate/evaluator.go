package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
)

// Evaluator is where calls are judged. It is safe for concurrent use.
type Evaluator struct {
	cfg    Config
	judge  string // rules, llm or cascade
	rules  Rules
	model  memoryd.Model
	ledger Ledger
	log    *slog.Logger
	now    func() time.Time

	prompts  prompts
	version  string // of the model judge
	profiles *profiles
	cache    *evaluationCache
	queue    *queue
	reclaim  sync.Mutex // held while a worker takes lapsed calls up again
	counters *counters
	costs    *costs
	observer func(Event)
	batching batching
	health   health

	worker *lifecycle.Worker
	mu     sync.Mutex // held while Stop puts back what is left
}

// NewEvaluator makes an evaluator. model is nil when none is configured; logger and now
// must not be. Nothing runs before Start.
func NewEvaluator(cfg Config, ruled Rules, model memoryd.Model, ledger Ledger, logger *slog.Logger, now func() time.Time) (*Evaluator, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "evaluate."+err.Error())
	}
	d := &Evaluator{
		cfg: cfg, judge: cfg.Judge, rules: ruled, model: model, ledger: ledger, log: logger, now: now,
		queue: newQueue(cfg.QueueSize), counters: &counters{},
		costs: newCosts(), observer: func(Event) {}, worker: lifecycle.NewWorker(logger, "judging"),
	}
	d.cache = newEvaluationCache(ledger, d.counters)
	switch {
	case d.judge == JudgeAuto && model == nil:
		d.judge = JudgeRules
	case d.judge == JudgeAuto:
		d.judge = JudgeCascade
	case d.judge != JudgeRules && model == nil:
		return nil, memoryd.Errorf(memoryd.Invalid, "evaluate.judge: %s needs a model, and none is configured", d.judge)
	}
	d.profiles = newProfiles(cfg, d.judge != JudgeRules && cfg.EarlierVerdicts > 0, ledger, now)
	var err error
	if d.prompts, err = loadPrompts(cfg.PromptFile); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "evaluate."+err.Error())
	}
	if d.judge != JudgeRules {
		d.version = versionOf(cfg, d.prompts, model.Name())
	}
	return d, nil
}

// versionOf identifies the model judge by all that shapes its evaluations: model,
// prompts, schema and the settings of what it is shown.
func versionOf(cfg Config, p prompts, model string) string {
	h := sha256.New()
	for _, part := range []string{
		model, p.single, p.batch, string(schemaFor(false)), string(schemaFor(true)),
		fmt.Sprint(cfg.MaxInput, cfg.MaxOutput, cfg.MaxContext, cfg.EarlierVerdicts, cfg.BatchSize),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "llm-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// Describe says who judges, for people: "rules", "llm:gpt-4o-mini" or
// "cascade (rules, then llm:gpt-4o-mini)".
func (d *Evaluator) Describe() string {
	switch d.judge {
	case JudgeLLM:
		return "llm:" + d.model.Name()
	case JudgeCascade:
		return "cascade (rules, then llm:" + d.model.Name() + ")"
	}
	return "rules"
}

// Start begins to judge what Await hands over and what the store has pending,
// until ctx ends or Stop. An evaluator starts once.
func (d *Evaluator) Start(ctx context.Context) {
	loops := []func(context.Context){d.sweep, func(ctx context.Context) { // a context that ends is a Stop, too
		<-ctx.Done()
		d.queue.close()
	}}
	if d.judge != JudgeRules {
		loops = append(loops, slices.Repeat([]func(context.Context){d.work}, d.cfg.Workers)...)
	}
	d.worker.Start(ctx, loops...)
}

// Stop ends the judging. What is in hand goes back to the store as pending, and
// who waits in Await goes on without an evaluation. It may be called twice, or
// before Start.
func (d *Evaluator) Stop() {
	d.queue.close()
	d.worker.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.putBack(d.queue.rest())
}
