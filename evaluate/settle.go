package evaluate

import (
	"context"
	"time"

	"memoryd"
)

// settled is a job with the evaluation that it shall have.
type settled struct {
	j *job
	e memoryd.Evaluation
}

// Patience with the store: how often a write is tried, how long it may take in
// all, and the wait after the first failure, which doubles.
const (
	writeTries   = 4
	writeTimeout = 10 * time.Second
	writePause   = 100 * time.Millisecond
)

// conclude stores what the workers found out, for the jobs themselves and for
// those that joined them, and releases who waits.
func (d *Desk) conclude(ctx context.Context, all []outcome) {
	var list []settled
	for _, o := range all {
		if o.err == nil && !o.cached {
			d.keep(ctx, o)
		}
		list = append(list, settled{o.j, d.evaluationOf(o.j, o)})
		o.cached = o.cached || o.err == nil
		for _, f := range d.queue.done(o.j) {
			list = append(list, settled{f, d.evaluationOf(f, o)})
		}
	}
	d.write(ctx, list)
	for _, s := range list {
		d.profiles.soon(s.j.ref)
	}
}

// keep puts a fresh verdict into the cache before it is settled, so that it is
// not paid for again if the process dies in between.
func (d *Desk) keep(ctx context.Context, o outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := d.verdicts.keep(ctx, o.j.cache, o.model); err != nil {
		d.tally.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.Debug("a verdict was not cached", "err", err)
	}
}

// evaluationOf is what an outcome means for j, the job itself or one that joined
// it. A model's verdict is brought within j's bound here and nowhere else.
func (d *Desk) evaluationOf(j *job, o outcome) memoryd.Evaluation {
	if o.err != nil {
		return d.failed(j, o.err)
	}
	m := o.model
	if o.cached {
		m = asCached(m, d.now())
	}
	m.Attempts = j.before.Attempts
	e, bounded := j.bound.apply(m, j.ruled)
	d.tally.count(func(s *Stats) {
		if o.cached {
			s.CacheHits++
		} else {
			s.ModelVerdicts++
		}
		if bounded {
			s.Bounded++
		}
	})
	return e
}

// write settles the list and releases who waits. When the store does not take
// it, the calls stay pending there and are tried again when their lease ends;
// a verdict reached meanwhile is remembered.
func (d *Desk) write(ctx context.Context, list []settled) {
	if len(list) == 0 {
		return
	}
	settlements := make([]Settlement, len(list))
	for i, s := range list {
		settlements[i] = Settlement{s.j.ref, s.j.key, s.e}
	}
	if err := d.settle(ctx, settlements); err != nil {
		d.tally.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.Error("verdicts could not be stored; their calls stay pending", "calls", len(list), "err", err)
		for i := range list {
			list[i].e = list[i].j.before
		}
	}
	for _, s := range list {
		s.j.finish(s.e)
	}
}

// settle writes to the store, again after a failure that may pass. It does not
// end with ctx, because the verdicts are paid for.
func (d *Desk) settle(ctx context.Context, list []Settlement) (err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	for try, pause := 0, writePause; try < writeTries; try, pause = try+1, 2*pause {
		if try > 0 {
			wait := time.NewTimer(pause)
			select {
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return err
			}
		}
		_, err = d.ledger.Settle(ctx, list)
		if err == nil || memoryd.IsKind(err, memoryd.Closed) || memoryd.IsKind(err, memoryd.Invalid) {
			return err
		}
	}
	return err
}

// putBack returns jobs that nobody will judge now: they stay pending, free to be
// taken at once, and who waits goes on.
func (d *Desk) putBack(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	list := make([]settled, len(jobs))
	for i, j := range jobs {
		e := j.before
		e.State, e.NotBefore = memoryd.Pending, d.now()
		list[i] = settled{j, e}
	}
	d.write(context.Background(), list)
}
