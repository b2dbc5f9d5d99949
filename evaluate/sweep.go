package evaluate

import (
	"context"
	"slices"
	"time"
)

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
			d.log.WarnContext(ctx, "pending calls could not be read from the store", "err", err)
		}
		return false
	}
	var decided []settled
	for i := range claimed {
		c := &claimed[i]
		c.Evaluation.NotBefore = now.Add(d.cfg.Lease)
		if d.queue.hold(jobID{c.Workspace, c.Key}, c.Evaluation.NotBefore) {
			continue
		}
		if j, v, ok := d.take(ctx, c); ok {
			decided = append(decided, settled{j, v})
			c.Evaluation = v.e
			d.observe(ctx, c)
		}
	}
	d.write(ctx, decided)
	return len(claimed) == limit
}

// stillOurs drops jobs that waited so long that another process may have taken
// their calls, unless the store gives them to this one again. What is dropped
// stays pending in the store, for whoever sweeps next.
func (d *Evaluator) stillOurs(ctx context.Context, jobs []*job) []*job {
	lapsed := func(j *job) bool { return d.queue.lapsed(j, d.now()) }
	if !slices.ContainsFunc(jobs, lapsed) {
		return jobs
	}
	d.reclaim.Lock() // one worker at a time: a claim renews many
	if slices.ContainsFunc(jobs, lapsed) {
		d.sweepOnce(ctx)
	}
	d.reclaim.Unlock()
	return slices.DeleteFunc(jobs, func(j *job) bool {
		gone := lapsed(j)
		if gone {
			for _, f := range append(d.queue.done(j), j) {
				f.finish(f.before)
			}
		}
		return gone
	})
}
