package evaluate

import (
	"context"
	"time"

	"memoryd"
	"memoryd/evaluate/rules"
)

// Await takes stored pending calls into the queue and waits until each has been
// tried or ctx ends. It fills in what became of them: an evaluation, the reason why
// none was reached and when the next try is due, or, for those not tried yet,
// nothing. Judging goes on in the background in any case, also when ctx has
// ended before the call. What the full queue does not take is left to the sweep.
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
		ref: c.ToolRef, key: c.Key, cache: d.keysOf(c), brief: o.brief,
		ruled: o.ruled, sure: o.sure, bound: o.bound, before: c.Evaluation, done: make(chan struct{}),
		from: ctx, until: c.Evaluation.NotBefore,
	}
	if v, ok := d.withoutModel(ctx, c, o); ok {
		v.e.Cost = d.costs.close(j.id())
		return j, v, true
	}
	in, joined := d.queue.add(j)
	if joined {
		d.counters.count(func(s *Stats) { s.Joined++ })
	}
	return in, decision{}, false
}

// Rules is the judge that needs no model (rules.Judge satisfies it). The
// profile is what the tool's own history shows; it may be nil.
type Rules interface {
	Judge(c *memoryd.Call, p *rules.Profile) rules.Result
	Version() string
}

// Ledger is what the evaluator needs of the store; package store says what each
// method promises. A store.Store is one.
type Ledger interface {
	// History gives the newest limit calls of a tool, oldest first.
	History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	// Claim takes pending calls that are due and keeps them from others for the
	// length of the lease.
	Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error)
	// Settle writes evaluations to calls that are still pending.
	Settle(ctx context.Context, settled []memoryd.Settlement) ([]bool, error)

	Cache
}

// Cache keeps evaluations of the model for calls that come again.
type Cache interface {
	CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error)
	CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error
}
