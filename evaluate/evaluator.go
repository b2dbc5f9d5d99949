package evaluate

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/evaluate/rules"
	"memoryd/internal/lifecycle"
	"memoryd/internal/reading"
)

// Evaluator judges calls. It is safe for concurrent use.
type Evaluator struct {
	cfg    Config
	judge  string // rules, llm or cascade
	rules  Rules
	model  memoryd.Model
	ledger Ledger
	log    *slog.Logger
	now    func() time.Time

	prompt   string // the instructions of each request
	version  string // of the model judge
	profiles *profiles
	cache    *evaluationCache
	queue    *queue
	reclaim  sync.Mutex // held while a worker takes lapsed calls up again
	counters *counters
	costs    *costs
	observer func(Event)
	health   health

	worker *lifecycle.Worker
	mu     sync.Mutex // held while Stop puts back what is left
}

// NewEvaluator returns an evaluator. model is nil if none is configured; logger and now must
// not be nil. Nothing runs before Start.
func NewEvaluator(cfg Config, ruled Rules, model memoryd.Model, ledger Ledger, logger *slog.Logger,
	now func() time.Time,
) (*Evaluator, error) {
	if cfg.Barred == nil {
		cfg.Barred = func(string) bool { return false }
	}
	d := &Evaluator{
		cfg: cfg, judge: cfg.Judge, rules: ruled, model: model, ledger: ledger, log: logger, now: now,
		queue: newQueue(cfg.QueueSize), counters: &counters{},
		costs: newCosts(), observer: func(Event) {}, worker: lifecycle.NewWorker(logger, "judging"),
	}
	d.cache = newEvaluationCache(ledger, d.counters)
	switch {
	case model != nil:
		if d.judge == JudgeAuto {
			d.judge = JudgeCascade
		}
	case d.judge == JudgeAuto:
		d.judge = JudgeRules
	case d.judge != JudgeRules:
		return nil, memoryd.Errorf(memoryd.Invalid, "evaluate.judge: %s needs a model: configure one in the llm section", d.judge)
	}
	d.profiles = newProfiles(cfg, d.judge != JudgeRules && cfg.EarlierVerdicts > 0, ledger, d.doubt, now)
	var err error
	if d.prompt, err = loadPrompt(cfg.PromptFile); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "evaluate."+err.Error())
	}
	if d.judge != JudgeRules {
		d.version = versionOf(cfg, d.prompt, model.Name())
	}
	return d, nil
}

// versionOf identifies the model judge by all that shapes its evaluations: model,
// prompt, schema and the settings of what it is shown.
func versionOf(cfg Config, prompt, model string) string {
	h := sha256.New()
	for _, part := range []string{
		model, prompt, string(answerSchema()), fmt.Sprint(cfg.MaxInput, cfg.MaxOutput, cfg.MaxContext, cfg.EarlierVerdicts),
	} {
		fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return "llm-" + hex.EncodeToString(h.Sum(nil)[:6])
}

// Describe describes the judge for people: "rules", "llm:gpt-4o-mini" or "cascade (rules,
// then llm:gpt-4o-mini)".
func (d *Evaluator) Describe() string {
	switch d.judge {
	case JudgeLLM:
		return "llm:" + d.model.Name()
	case JudgeCascade:
		return "cascade (rules, then llm:" + d.model.Name() + ")"
	}
	return "rules"
}

// Start begins to judge the calls from Await and the pending calls in the store, until ctx
// ends or Stop is called. An evaluator starts once.
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

// Stop stops judging. Calls in memory return to the store as pending, and callers of Await
// continue without an evaluation. It may be called twice, or before Start.
func (d *Evaluator) Stop() {
	d.queue.close()
	d.worker.Stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.putBack(context.Background(), d.queue.rest())
}

// claimMost bounds how many calls are taken from the store at once.
const claimMost = 256

// sweep takes pending calls that are due from the store: those of requests that
// did not get into the queue, those whose last try failed, and those that an
// earlier run of the program left. It takes the next ones when the queue has run
// low, and looks again from time to time.
func (d *Evaluator) sweep(ctx context.Context) {
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-d.queue.drained:
		}
		more := d.sweepOnce(ctx)
		wait := d.cfg.SweepInterval
		if more {
			wait = 0
		}
		tick.Reset(wait)
	}
}

// sweepOnce takes what there is room for and reports whether there may be more.
// The sweep uses half of the queue, so that requests find room as well.
func (d *Evaluator) sweepOnce(ctx context.Context) (more bool) {
	limit := min(d.queue.room()-d.cfg.QueueSize/2, claimMost)
	if limit <= 0 || ctx.Err() != nil {
		d.queue.callWhenLow()
		return false
	}
	now := d.now()
	claimed, err := d.ledger.Claim(ctx, now, d.cfg.Lease, limit)
	if err != nil {
		if ctx.Err() == nil {
			d.counters.count(func(s *Stats) { s.LedgerErrors++ })
			d.log.WarnContext(ctx, "cannot read pending calls from the store", "err", err)
		}
		return false
	}
	var decided []settled
	var left []*job
	for i := range claimed {
		c := &claimed[i]
		c.Evaluation.NotBefore = now.Add(d.cfg.Lease)
		if d.queue.hold(jobID{c.Workspace, c.Key}, c.Evaluation.NotBefore) {
			continue
		}
		j, v, ok := d.take(ctx, c)
		switch {
		case ok:
			decided = append(decided, settled{j, v})
			c.Evaluation = v.e
			d.observe(&j.opinion, c)
		case j == nil: // requests filled the queue meanwhile
			left = append(left, &job{ref: c.ToolRef, key: c.Key, before: c.Evaluation, done: make(chan struct{})})
		}
	}
	d.write(ctx, decided)
	d.putBack(ctx, left)
	return len(claimed) == limit
}

// stillOurs drops a job that waited so long that another process may have taken
// its call, unless the store gives it to this one again. What is dropped
// stays pending in the store, for whoever sweeps next.
func (d *Evaluator) stillOurs(ctx context.Context, j *job) bool {
	lapsed := func() bool { return d.queue.lapsed(j, d.now()) }
	if !lapsed() {
		return true
	}
	d.reclaim.Lock() // one worker at a time: a claim renews many
	if lapsed() {
		d.sweepOnce(ctx)
	}
	d.reclaim.Unlock()
	if !lapsed() {
		return true
	}
	for _, f := range append(d.queue.done(j), j) {
		f.finish(f.before)
	}
	return false
}

// Await queues stored pending calls and waits until each was attempted or ctx ends. It fills
// in the results: an evaluation, or the reason why there is none and the time of the next
// attempt, or nothing for calls without an attempt. Judging continues in the background in
// any case. Calls that do not fit into the queue are left to the sweep.
func (d *Evaluator) Await(ctx context.Context, calls []memoryd.Call) {
	jobs := make([]*job, len(calls))
	var decided []settled
	for i := range calls {
		if calls[i].Evaluation.State != memoryd.Pending {
			continue
		}
		j, v, ok := d.take(context.WithoutCancel(ctx), &calls[i])
		if ok {
			calls[i].Evaluation = v.e
			decided = append(decided, settled{j, v})
			continue
		}
		jobs[i] = j
	}
	d.write(ctx, decided)
	look := make(<-chan time.Time)
	if d.cfg.Resting != nil {
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		look = ticker.C
	}
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	for i, j := range jobs {
		if j == nil {
			continue
		}
		for waiting := true; waiting; {
			select {
			case <-j.done:
				calls[i].Evaluation, waiting = j.result, false
			case <-look:
				if d.cfg.Resting() > maxRest {
					giveUp()
				}
			case <-ctx.Done():
				select { // an evaluation that is there counts even so
				case <-j.done:
					calls[i].Evaluation = j.result
				default:
				}
				waiting = false
			}
		}
	}
}

// maxRest is the longest pause of a model that callers sit through, and
// lookInterval how often they look for one.
const (
	maxRest      = 2 * time.Second
	lookInterval = 100 * time.Millisecond
)

// take puts a pending call into the queue. Where the call can be decided without
// the model, ok is true and v is the evaluation, still to be settled. The job is nil
// when the queue did not take it.
func (d *Evaluator) take(ctx context.Context, c *memoryd.Call) (j *job, v decision, ok bool) {
	o := d.consider(ctx, c)
	j = &job{
		ref: c.ToolRef, key: c.Key, opinion: o, source: c.Source(), metadata: bytes.Clone(c.Metadata),
		before: c.Evaluation, done: make(chan struct{}), from: ctx, until: c.Evaluation.NotBefore,
	}
	j.like = j.cache.judge
	if o.kind != nil && o.known == nil && d.everyKindOnce() {
		j.like = likeOf(c, o.kind)
	}
	v, ok = d.withoutModel(ctx, c, &o)
	if !ok && !d.queue.has(j) && !d.mayAsk(o.tool) {
		d.counters.count(func(s *Stats) { s.RuleVerdicts[o.ruled.Rule]++ })
		v, ok = decision{o.ruled, o.ruled}, true
	}
	if ok {
		v.e.Cost = d.costs.close(j.id())
		return j, v, true
	}
	in, joined := d.queue.add(j)
	if joined {
		d.counters.count(func(s *Stats) { s.Joined++ })
	}
	return in, decision{}, false
}

// Rules is the judge without a model (rules.Judge implements it). The profile describes the
// tool's own history; it may be nil.
type Rules interface {
	JudgeRead(c *memoryd.Call, r *reading.Reading, p *rules.Profile) rules.Result
	Version() string
}

// Ledger is the part of the store that the evaluator uses; package store documents the
// methods. A store.Store implements it.
type Ledger interface {
	// History returns the newest limit calls of a tool, oldest first.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	// Claim reserves pending calls that are due for the duration of the lease.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)
	// Settle writes evaluations of calls that are still pending.
	Settle(ctx context.Context, settled []memoryd.Settlement) ([]bool, error)

	Cache
	kinds.Records
}

// Cache keeps evaluations by the model for repeated calls.
type Cache interface {
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
