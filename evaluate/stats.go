package evaluate

import (
	"context"
	"encoding/json"
	"maps"
	"sync"

	"memoryd"
)

// Stats are the counters of an evaluator since its creation.
type Stats struct {
	Verdicts     map[string]int64 `metric:"verdicts_total" label:"judge" help:"Calls with a verdict, by judge: rules, kind, cache or model; failed: no verdict was possible."`
	RuleVerdicts map[string]int64 `metric:"rule_verdicts_total" label:"rule" help:"Calls that a rule decided, by rule."`
	CacheHits    int64            `metric:"verdict_cache_hits_total" help:"Calls that reused the verdict on an equal call."`
	// KindVerdicts counts calls that used a verdict on the kind of their output.
	KindVerdicts int64
	Joined       int64 `metric:"verdict_joins_total" help:"Cache hits that waited for an equal call that was being judged."`
	// Requests counts finished requests to the model, including repeated ones. ModelVerdicts
	// counts calls that the model decided; Bounded of them had their score reduced by the rules.
	Requests      int64
	ModelVerdicts int64
	Bounded       int64
	// PromptTokens and CompletionTokens are the counts of the model's server.
	PromptTokens     int64
	CompletionTokens int64
	Repaired         map[string]int64 `metric:"judge_repairs_total" label:"how" help:"Malformed answers of the model that were repaired, by kind of repair."`
	Reasked          int64            `metric:"judge_reasked_total" help:"Requests to the model that were repeated because the answer was unusable."`
	Failures         map[string]int64 `metric:"judge_failures_total" label:"reason" help:"Failed attempts to judge a call, by reason; each is retried."`
	// GivenUp counts the calls that ended as failed.
	GivenUp      int64
	LedgerErrors int64 `metric:"judge_store_errors_total" help:"Store errors of the judge."`
	Queued       int   `metric:"judge_queue_depth" help:"Calls that wait in memory for the judge."`
	InHand       int   `metric:"judge_in_hand" help:"Calls that wait in memory or are being judged."`
}

// counters is the running count. The zero value is ready.
type counters struct {
	mu sync.Mutex
	s  Stats
}

func (t *counters) count(change func(*Stats)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.s.RuleVerdicts == nil {
		t.s.RuleVerdicts, t.s.Repaired, t.s.Failures = map[string]int64{}, map[string]int64{}, map[string]int64{}
	}
	change(&t.s)
}

func (t *counters) snapshot() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.s
	s.RuleVerdicts, s.Repaired, s.Failures = maps.Clone(s.RuleVerdicts), maps.Clone(s.Repaired), maps.Clone(s.Failures)
	return s
}

// request counts a request that ended, with what the server reported; negative
// counts are nonsense and add nothing.
func (t *counters) request(u memoryd.Usage) {
	cost := costOf(u)
	t.count(func(s *Stats) {
		s.Requests++
		s.PromptTokens += cost.PromptTokens
		s.CompletionTokens += cost.CompletionTokens
	})
}

func (t *counters) repaired(used repairs) {
	if len(used) == 0 {
		return
	}
	t.count(func(s *Stats) {
		for _, r := range used {
			s.Repaired[r]++
		}
	})
}

// Stats returns the counters.
func (d *Evaluator) Stats() Stats {
	s := d.counters.snapshot()
	s.Queued, s.InHand = d.queue.depth()
	s.Verdicts = map[string]int64{"rules": 0, "kind": s.KindVerdicts, "cache": s.CacheHits, "model": s.ModelVerdicts, "failed": s.GivenUp}
	for _, n := range s.RuleVerdicts {
		s.Verdicts["rules"] += n
	}
	return s
}

// bills holds what calls cost in tries that failed, until they get an evaluation. It
// lasts as long as the process, and holds so many calls at most: a bill that is
// lost is missing from its call's cost, not from the ledger.
type costs struct {
	mu   sync.Mutex
	open map[jobID]memoryd.Cost
}

const maxBills = 50_000

func newCosts() *costs { return &costs{open: map[jobID]memoryd.Cost{}} }

// add puts a cost on the call's bill.
func (b *costs) add(id jobID, c memoryd.Cost) {
	if c == (memoryd.Cost{}) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, ok := b.open[id]; !ok && len(b.open) >= maxBills {
		for other := range b.open { // any one
			delete(b.open, other)
			break
		}
	}
	b.open[id] = b.open[id].Add(c)
}

// close gives the call's bill and forgets it.
func (b *costs) close(id jobID) memoryd.Cost {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.open[id]
	delete(b.open, id)
	return c
}

// maxTokens is more than any request has; a server that counts more is not
// believed.
const maxTokens = 10_000_000

// costOf is what a request cost.
func costOf(u memoryd.Usage) memoryd.Cost {
	tokens := func(n int) int64 { return int64(min(max(0, n), maxTokens)) }
	return memoryd.Cost{Requests: 1, PromptTokens: tokens(u.PromptTokens), CompletionTokens: tokens(u.CompletionTokens)}
}

// Event is a new evaluation, or the end of a call that could not be judged.
type Event struct {
	memoryd.ToolRef
	Key memoryd.CallKey
	// Metadata are the call's.
	Metadata json.RawMessage
	// Evaluation is the call's evaluation: judged, failed, or pending after a try in vain.
	Evaluation memoryd.Evaluation
	// Said is the judge's own evaluation, before the rules limited its score. It equals
	// Evaluation if nothing was reduced. Use it to monitor a judge.
	Said memoryd.Evaluation
	// Ruled is the evaluation of the rules; Sure reports whether they were sure.
	Ruled memoryd.Evaluation
	Sure  bool
}

// Observe sets the function that receives each evaluation: those from Prejudge, and the
// others, tries in vain among them, once they are stored. A call that is sent twice is reported twice. f is called from
// many goroutines and must not block. Call Observe before Start and Prejudge.
func (d *Evaluator) Observe(f func(Event)) { d.observer = f }

// tellSettled tells of those that the store has taken.
func (d *Evaluator) tellSettled(list []settled, written []bool) {
	for i, s := range list {
		if (s.e.State != memoryd.Pending || s.e.LastError != "") && written[i] {
			d.observer(Event{s.j.ref, s.j.key, s.j.metadata, s.e, s.said, s.j.ruled, s.j.sure})
		}
	}
}

// Overruled must be called when the store has a person's evaluation e of call. From then on,
// equal calls that would go to the model get the same evaluation, also in other processes and
// in later versions of the judge. What the rules remember about the tool is read again. What
// the rules are sure of, and texts that address the judge, are judged by the rules as before.
func (d *Evaluator) Overruled(ctx context.Context, call memoryd.Call, e memoryd.Evaluation) error {
	if e.State != memoryd.Judged {
		return memoryd.Errorf(memoryd.Invalid, "a correction is a verdict")
	}
	e.Overruled = nil
	return d.said(ctx, &call, e)
}

// Withdrawn must be called when a person takes an evaluation of a call back, before the call is
// judged again: equal calls no longer get it.
func (d *Evaluator) Withdrawn(ctx context.Context, call memoryd.Call) error {
	return d.said(ctx, &call, memoryd.PendingEvaluation())
}

// said takes what a person says of a call.
func (d *Evaluator) said(ctx context.Context, c *memoryd.Call, e memoryd.Evaluation) error {
	d.profiles.drop(c.ToolRef)
	err := d.cache.keep(ctx, d.keysOf(c).person, e, d.now())
	if err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
	}
	return err
}
