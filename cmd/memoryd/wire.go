package main

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"os"
	"runtime"
	"time"

	"memoryd"
	"memoryd/api"
	"memoryd/compact"
	"memoryd/config"
	"memoryd/evaluate"
	"memoryd/evaluate/rules"
	"memoryd/guidelines"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/guidelines/window"
	"memoryd/integrations/transcripts"
	"memoryd/internal/access"
	"memoryd/internal/accounts"
	"memoryd/internal/admission"
	"memoryd/llm"
	"memoryd/llm/usage"
	"memoryd/ops"
	"memoryd/ops/survey"
	"memoryd/store"
	"memoryd/store/backup"
)

// keyBurst is how many requests a key with a rate may send at once: what an agent's host
// sends when it has been away.
const keyBurst = 100

// turnWait is how long a request may wait for processor time: clients try again after a
// refusal, and an answer that is later helps nobody.
const turnWait = 5 * time.Second

// stack puts what follows the calls over a store, each over the one before: measures, quotas, and
// what guidelines are learned from. What the first page shows is read from there.
func (a *app) stack(bare store.Store) store.Store {
	if a.decorate != nil {
		bare = a.decorate(bare)
	}
	quota := ops.NewQuotaStore(a.measure(bare), a.cfg.Quotas, a.log, time.Now)
	a.metrics.Quotas(quota.Refused)
	a.window = window.New(quota, guidelines.MineCalls, a.log, time.Now)
	observed := a.window.Over()
	a.survey = survey.New(observed, a.log, time.Now)
	a.runs(nil, a.survey.Stop)
	a.own(a.window.Start, func(ctx context.Context) error {
		a.window.Stop(context.WithoutCancel(ctx))
		return nil
	})
	return observed
}

// wire makes every part but the bare store and the listeners, and gives the HTTP face.
// check-config runs it as serve does.
func (a *app) wire(bare store.Store, getenv func(string) string) (http.Handler, error) {
	if err := a.cfg.HTTP.CheckExposure(); err != nil {
		return nil, a.cfg.Fault("http", err)
	}
	a.store = a.stack(bare)
	a.ledger = usage.NewLedger(a.cfg.Usage, a.store, a.log, time.Now)
	a.prices = pricesOf(a.cfg.LLM)
	a.ledger.SetPrices(a.prices)
	a.runs(a.ledger.Start, a.ledger.Stop)
	a.agreement = evaluate.NewAgreement(a.log)
	var err error
	if a.models, err = newModels(a.cfg, getenv, a.log, a.attempt); err != nil {
		return nil, err
	}
	a.runs(nil, a.models.close)
	if a.judge, err = a.newJudge(); err != nil {
		return nil, err
	}
	a.runs(a.judge.Start, a.judge.Stop)
	deps := a.deps()
	a.sweeps(bare)
	a.refresher = revisions.NewRefresher(a.revisions, a.log)
	a.runs(a.refresher.Start, a.refresher.Stop)
	a.measureParts()
	a.keys = access.NewKeys(a.store, access.Limits{Rate: a.cfg.HTTP.KeyRate, Burst: keyBurst}, a.log, time.Now)
	a.runs(a.keys.Start, a.keys.Stop)
	a.face = api.Deps{
		Flows: a.cfg.Plan.Build(deps, a.traceRequests()), Checks: a.checks(), Logger: a.log, Meter: a.metrics, Tracer: a.traceRequests(),
		Scheduler: admission.NewScheduler(slotsFor(a.cfg.Store.Backend, processors()), turnWait),
		Keys:      a.keys, KeysNeeded: a.cfg.HTTP.KeysNeeded(), Audit: a.audit,
	}
	a.face.Mounts = a.mounts()
	a.handler = api.New(a.cfg.HTTP, a.face)
	return a.handler, nil
}

// deps are what the ops are made from.
func (a *app) deps() ops.Deps {
	llmName, summary := ops.Settings[ops.SummaryParams](a.cfg.Plan)
	writer := guidelines.NewWriter(a.cfg.Guidelines, a.model(llmName, "summary", summary.SummarySleepInterval))
	writer.Window, writer.Observe, writer.Barred = a.window, a.noteReview, a.cfg.Privacy.Barred
	a.revisions = &revisions.Manager{
		Store: a.store, Composer: writer, Recent: summary.RecentCallCount, Config: a.cfg.Revisions,
		Now: time.Now, Sourced: a.window.Sourced,
	}
	a.intake = accounts.NewIntake(time.Now)
	_, forecast := ops.Settings[ops.PreflightParams](a.cfg.Plan)
	forecasts := preflight.NewCache(a.store, forecast, a.log, time.Now)
	forecasts.Use(a.window)
	a.runs(nil, forecasts.Stop)
	_, manage := ops.Settings[ops.VectorStoreParams](a.cfg.Plan)
	redaction := ops.NewRedaction(a.store, a.cfg.Privacy, a.log, time.Now)
	clean := redaction.Over(a.store)
	originals := ops.Originals{Records: clean, Keep: a.cfg.Compact.KeepOriginals, Now: time.Now}
	reader := ops.MemoryReader{Store: a.store, Recent: summary.RecentCallCount}
	mask := func(text string) string { return redaction.Text(context.Background(), text) }
	a.audit = access.NewAudit(a.store, a.log, time.Now)
	return ops.Deps{
		Store: a.store, Names: ops.NewNames(a.store, time.Now), Audit: a.audit, Reader: reader, Judge: a.judge, Wait: a.cfg.Evaluate.Wait,
		Revisions: a.revisions, Told: ops.NewTold(), Forecasts: forecasts, Compactor: a.newCompactor(originals, mask),
		Mover: &backup.Actions{
			Store: clean, Marks: a.store, Dir: manage.DumpDir, Kinds: movedKinds(), RecentCalls: summary.RecentCallCount, Now: time.Now,
			Trust: &backup.Trust{Seal: redaction.Seal, SetAside: revisions.SetAside, Published: append(revisions.Kinds(), window.Kinds()...)},
		},
		Ledger: a.ledger, Survey: a.survey, Intake: a.intake, Readers: transcripts.Readers{}, Redaction: redaction,
		Keyed:  func() bool { return a.keys.Any() },
		Forget: a.window.Forget, ForgetSource: a.window.ForgetSource,
		Corrected: a.corrected, Logger: a.log, Now: time.Now,
	}
}

// newCompactor makes the compactor, with the model of its op if there is one.
func (a *app) newCompactor(originals compact.Originals, mask func(string) string) ops.Compactor {
	llmName, _ := ops.Settings[ops.CompactParams](a.cfg.Plan)
	deps := compact.Deps{Originals: originals, Mask: mask, Logger: a.log}
	alone := compact.New(a.cfg.Compact, deps)
	if m := a.model(llmName, "compact", 0); m != nil {
		deps.Model = m
	}
	return measuredCompactor{compact.New(a.cfg.Compact, deps), alone, a.cfg.Privacy.Barred, a.metrics}
}

// slotsFor is how many requests compute at a time: enough to keep the processors busy,
// few enough that none waits long for its slice and that they leave threads to others. A
// request to a store on another machine mostly waits for that; many at a time share its
// requests.
func slotsFor(backend string, processors int) int {
	if backend == config.BackendQdrant {
		return 64 * processors
	}
	return processors
}

// processors is how many there are to use.
func processors() int { return min(runtime.NumCPU(), runtime.GOMAXPROCS(0)) }

// spareThreads gives the runtime twice as many threads to run Go as there are processors. What
// computes has slots for one half; so probes, refusals and bodies that arrive never stand
// behind it in the runtime's own queue, which knows no precedence. Where fewer processors may
// be used than there are, more threads would only use up the share sooner, and where addresses
// are bounded, each may take 64 MB of them.
func spareThreads() {
	n := runtime.GOMAXPROCS(0)
	if os.Getenv("GOMAXPROCS") == "" && n == runtime.NumCPU() && freeAddresses() == math.MaxInt64 {
		runtime.GOMAXPROCS(2 * n)
	}
}

// checks are the parts of the readiness: without the store nothing can be
// acknowledged; without a model recording and retrieving go on.
func (a *app) checks() []ops.Check {
	checks := []ops.Check{{Name: "store", Vital: true, Run: a.store.Ping}}
	if a.qdrant != nil {
		checks = append(checks, ops.Check{Name: "store.settings", Run: a.qdrant.Settings})
	}
	if a.cfg.Incomplete {
		checks = append(checks, ops.Check{Name: "store.whole", Run: func(ctx context.Context) error { return backup.CheckWhole(ctx, a.store) }})
	}
	for name, client := range a.models {
		checks = append(checks, ops.Check{Name: "llm." + name, Run: healthOf(client)})
	}
	return checks
}

// model is an entry of the llm section for one op, within the budgets; nil when it cannot be used.
func (a *app) model(entry, op string, seconds float64) memoryd.Model {
	if m := a.models.forOp(entry, op, seconds); m != nil {
		return a.ledger.Limited(m)
	}
	return nil
}

// newJudge makes who evaluates calls.
func (a *app) newJudge() (*evaluate.Evaluator, error) {
	llmName, params := ops.Settings[ops.ParseParams](a.cfg.Plan)
	model, cfg := a.model(llmName, "evaluate", params.EvaluationSleepInterval), a.cfg.Evaluate
	if client := a.models[llmName]; client != nil {
		cfg.Resting, cfg.Workers = client.Resting, a.cfg.LLM[llmName].MaxConcurrency
		cfg.RequestTimeout = max(cfg.RequestTimeout, 2*a.cfg.LLM[llmName].TotalTimeout) // its queuing included
	}
	cfg.Barred = a.cfg.Privacy.Barred
	d, err := evaluate.NewEvaluator(cfg, rules.New(), model, a.store, a.log, time.Now)
	if err != nil {
		return nil, a.cfg.Fault("evaluate", err)
	}
	d.Observe(a.judged)
	return d, nil
}

// noteReview says what was kept of a model's guideline, and why the rest was
// dropped.
func (a *app) noteReview(ctx context.Context, ref memoryd.ToolRef, r guidelines.Review) {
	a.log.InfoContext(ctx, "model's guideline reviewed", "workspace", ref.Workspace, "tool", ref.Tool, "kept", r.Kept, "dropped", r.Dropped)
}

// models are the entries of the llm section that can be used: those with a key
// or with an address of their own. The others stay silent, so that the server
// works without any.
type models map[string]*llm.Client

func newModels(cfg *config.Config, getenv func(string) string, log *slog.Logger, traced llm.Tracer) (models, error) {
	m := models{}
	for name, c := range cfg.LLM {
		key := getenv(c.APIKeyEnv)
		if key == "" && c.BaseURL == "" {
			continue
		}
		client, err := llm.New(c, key, llm.Options{Logger: log.With("llm", name), Tracer: traced})
		if err != nil {
			return nil, fmt.Errorf("llm.%s: %w", name, err)
		}
		m[name] = client
	}
	return m, nil
}

// pricesOf gives what the configured models cost.
func pricesOf(entries map[string]llm.Config) usage.Prices {
	prices := usage.Prices{}
	for _, c := range entries {
		if p := (usage.Price{Prompt: c.PricePrompt, Completion: c.PriceCompletion}); p != (usage.Price{}) {
			prices[c.ModelName] = p
		}
	}
	return prices
}

// forOp gives the view of an entry that spaces the requests of one op; nil when
// the entry cannot be used.
func (m models) forOp(name, op string, seconds float64) *llm.Model {
	client := m[name]
	if client == nil {
		return nil
	}
	return client.ForOp(op, time.Duration(seconds*float64(time.Second)))
}

// close ends what still waits for a model.
func (m models) close() {
	for _, client := range m {
		client.Close()
	}
}

func healthOf(client *llm.Client) func(context.Context) error {
	return func(context.Context) error {
		if reason := client.Health(); reason != "" {
			return memoryd.Errorf(memoryd.Unavailable, "the model is unavailable: %s", reason)
		}
		return nil
	}
}
