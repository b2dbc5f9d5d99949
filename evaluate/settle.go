package evaluate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"time"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/internal/lifecycle"
	"memoryd/internal/reading"

	lru "github.com/hashicorp/golang-lru/v2"
)

// settled is a job with the evaluation that it shall have.
type settled struct {
	j *job
	decision
}

// Patience with the store: how often a write is tried, how long it may take in
// all, and the wait after the first failure, which doubles.
const (
	writeTries   = 4
	writeTimeout = 10 * time.Second
	writePause   = 100 * time.Millisecond
)

// conclude stores what a worker found out, for the job itself and for those that joined it,
// and releases who waits.
func (d *Evaluator) conclude(ctx context.Context, o outcome) {
	list := []settled{{o.j, d.evaluationOf(o.j, o)}}
	if o.err == nil {
		o.cached = true
	}
	for _, f := range d.queue.done(o.j) {
		list = append(list, settled{f, d.evaluationOf(f, o)})
	}
	d.write(ctx, list)
	for _, s := range list {
		d.profiles.soon(s.j.ref)
	}
}

// keep puts a fresh evaluation into the cache before it is settled, so that it is
// not paid for again if the process dies in between.
func (d *Evaluator) keep(ctx context.Context, o outcome) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	if err := d.cache.keep(ctx, o.j.cache.judge, o.e, d.now()); err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.DebugContext(ctx, "cannot cache a verdict", "err", err)
	}
	d.learn(ctx, o.j, o.e)
}

// evaluationOf is what an outcome means for j, the job itself or one that joined
// it. A model's evaluation is brought within j's bound here and nowhere else.
// What the job's tries cost goes with the evaluation, or on its account.
func (d *Evaluator) evaluationOf(j *job, o outcome) decision {
	if o.err != nil {
		e := d.failed(j, o.err)
		if e.State == memoryd.Pending {
			d.costs.add(j.id(), j.spent)
		} else {
			e.Cost = d.costs.close(j.id()).Add(j.spent)
		}
		return decision{e, e}
	}
	k := o.known
	if o.cached {
		k.e = asCached(k.e, d.now())
	}
	var v decision
	switch on := o.kind; {
	case on == nil && o.j.cache != j.cache: // it is of the same kind only
		on = &kinds.Verdict{Label: kinds.Label{Score: k.e.Score, By: o.e.JudgedBy, Version: k.e.JudgeVersion}}
		fallthrough
	case on != nil:
		v = d.asKind(on, &j.opinion)
	default:
		v = d.bounded(k, j.bound, j.ruled)
	}
	v.e.Attempts = j.before.Attempts
	v.e.Cost = d.costs.close(j.id()).Add(j.spent)
	return v
}

// write settles the list and releases who waits. When the store does not take
// it, the calls stay pending there and are tried again when their lease ends;
// an evaluation reached meanwhile is remembered.
func (d *Evaluator) write(ctx context.Context, list []settled) {
	if len(list) == 0 {
		return
	}
	settlements := make([]memoryd.Settlement, len(list))
	for i, s := range list {
		settlements[i] = memoryd.Settlement{ToolRef: s.j.ref, Key: s.j.key, Evaluation: s.e}
	}
	written, err := d.settle(ctx, settlements)
	if err != nil {
		d.counters.count(func(s *Stats) { s.LedgerErrors++ })
		d.log.ErrorContext(ctx, "cannot store verdicts; the calls stay pending", "calls", len(list), "err", err)
		for i := range list {
			d.costs.add(list[i].j.id(), list[i].e.Cost)
			list[i].e = list[i].j.before
		}
		written = make([]bool, len(list))
	}
	d.tellSettled(list, written)
	for _, s := range list {
		s.j.finish(s.e)
	}
}

// settle writes to the store, again after a failure that may pass. It does not
// end with ctx, because the evaluations are paid for.
func (d *Evaluator) settle(ctx context.Context, list []memoryd.Settlement) (written []bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	for try, pause := 0, writePause; try < writeTries; try, pause = try+1, 2*pause {
		if try > 0 && !lifecycle.Sleep(ctx, pause) {
			break
		}
		written, err = d.ledger.Settle(ctx, list)
		if err == nil || memoryd.IsKind(err, memoryd.Closed, memoryd.Invalid) {
			return written, err
		}
	}
	return nil, err
}

// putBack returns jobs that nobody will judge now: they stay pending, free to be
// taken at once, and who waits goes on.
func (d *Evaluator) putBack(ctx context.Context, jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	list := make([]settled, len(jobs))
	for i, j := range jobs {
		e := j.before
		e.State, e.NotBefore = memoryd.Pending, d.now()
		list[i] = settled{j, decision{e, e}}
	}
	d.write(ctx, list)
}

// evaluationKey is the identity of an evaluation of a call, whose input text is given: calls
// with the same key get the same one from the model. Costs and times do not count.
func evaluationKey(judgeVersion string, c *memoryd.Call, input []byte) [16]byte {
	parts := []string{judgeVersion, c.Workspace, c.Tool, string(input), c.Output}
	if c.Success {
		parts = append(parts, "success")
	}
	sum := memoryd.SumOf(parts...)
	return [16]byte(sum[:])
}

// likeOf is the identity of what one question to the model answers: the kind of a call's
// output, of one source.
func likeOf(c *memoryd.Call, k *reading.Kind) (like [16]byte) {
	h := sha256.New()
	fmt.Fprintf(h, "kind %d:%s %d:%s %d:%s %v", len(c.Workspace), c.Workspace, len(c.Tool), c.Tool, len(c.Source()), c.Source(), k.IDs)
	copy(like[:], h.Sum(nil))
	return like
}

// keys are under which a call's evaluation is found: a person's, which holds for all
// versions of the judge, and the judge's own.
type keys struct{ person, judge [16]byte }

func (d *Evaluator) keysOf(c *memoryd.Call) keys {
	input := memoryd.InputText(c.Input)
	return keys{evaluationKey("person", c, input), evaluationKey(d.version, c, input)}
}

// known is an evaluation that was reached before.
type known struct {
	e        memoryd.Evaluation
	byPerson bool
}

// memoSize is how many evaluations are remembered in the process.
const memoSize = 2048

// evaluations is the evaluation cache: the store's, which all processes share, behind
// a small memory of this one. The memory also bridges the time while the store
// cannot be written, so that no evaluation is paid for twice.
type evaluationCache struct {
	shared   Cache
	counters *counters
	recent   *lru.Cache[[16]byte, memo]
}

type memo struct {
	e  memoryd.Evaluation
	at time.Time
}

// personMemo is how long a person's evaluation is remembered before the store is
// asked again: another process may have taken a second correction since. The
// model's evaluations never change.
const personMemo = time.Minute

func newEvaluationCache(shared Cache, t *counters) *evaluationCache {
	recent, _ := lru.New[[16]byte, memo](memoSize) // fails of no size only
	return &evaluationCache{shared: shared, counters: t, recent: recent}
}

// find gives a person's evaluation, else the model's, as an evaluation from the cache.
func (v *evaluationCache) find(ctx context.Context, ks keys, now time.Time) (known, bool) {
	if e, ok := v.one(ctx, ks.person, now, personMemo); ok {
		return known{asCached(e, now), true}, true
	}
	e, ok := v.one(ctx, ks.judge, now, math.MaxInt64)
	return known{asCached(e, now), false}, ok
}

// one looks a key up: in the memory what is not older than within, then in the
// store; what the memory has serves also while the store does
// not answer.
func (v *evaluationCache) one(ctx context.Context, key [16]byte, now time.Time, within time.Duration) (memoryd.Evaluation, bool) {
	m, had := v.recent.Get(key)
	if had && now.Sub(m.at) < within {
		return m.e, m.e.State == memoryd.Judged // else it was taken back
	}
	e, err := v.shared.CachedVerdict(ctx, key)
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
		return memoryd.Evaluation{}, false
	case err != nil:
		v.counters.count(func(s *Stats) { s.LedgerErrors++ })
		e = m.e
	default:
		v.recent.Add(key, memo{e, now})
	}
	return e, e.State == memoryd.Judged
}

// asCached is an evaluation as a later, equal call takes it over: it costs nothing.
func asCached(e memoryd.Evaluation, now time.Time) memoryd.Evaluation {
	e.JudgedBy, e.JudgedAt = memoryd.JudgedByCache, now
	e.Attempts, e.LastError, e.NotBefore = 0, "", time.Time{}
	e.Cost, e.Overruled = memoryd.Cost{}, nil
	return e
}

// keep remembers an evaluation of the model or of a person, here and in the store.
func (v *evaluationCache) keep(ctx context.Context, key [16]byte, e memoryd.Evaluation, now time.Time) error {
	v.recent.Add(key, memo{e, now})
	return v.shared.CacheVerdict(ctx, key, e)
}
