package evaluate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"memoryd"

	lru "github.com/hashicorp/golang-lru/v2"
)

// verdictKey is the identity of an evaluation: calls with the same key get the same
// one from the model. It is the first 16 bytes of SHA-256 over all parts, each
// with its length before it. Costs and times do not count.
func evaluationKey(judgeVersion string, c *memoryd.Call) [16]byte {
	h := sha256.New()
	var n [8]byte
	part := func(b []byte) {
		binary.BigEndian.PutUint64(n[:], uint64(len(b)))
		h.Write(n[:])
		h.Write(b)
	}
	part([]byte(judgeVersion))
	part([]byte(c.Workspace))
	part([]byte(c.Tool))
	part(memoryd.InputText(c.Input))
	part([]byte(c.Output))
	if c.Success {
		part([]byte("success"))
	}
	var key [16]byte
	copy(key[:], h.Sum(nil))
	return key
}

// keys are under which a call's evaluation is found: a person's, which holds for all
// versions of the judge, and the judge's own.
type keys struct{ person, judge [16]byte }

func (d *Evaluator) keysOf(c *memoryd.Call) keys {
	return keys{personKey(c), evaluationKey(d.version, c)}
}

// personKey is the identity of a person's evaluation.
func personKey(c *memoryd.Call) [16]byte { return evaluationKey("person", c) }

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
	e, ok := v.one(ctx, ks.judge, now, 0)
	return known{asCached(e, now), false}, ok
}

// one looks a key up: in the memory what is not older than within (0: of any
// age), then in the store; what the memory has serves also while the store does
// not answer.
func (v *evaluationCache) one(ctx context.Context, key [16]byte, now time.Time, within time.Duration) (memoryd.Evaluation, bool) {
	m, had := v.recent.Get(key)
	if had && (within == 0 || now.Sub(m.at) < within) {
		return m.e, true
	}
	e, err := v.shared.CachedVerdict(ctx, key)
	switch {
	case err != nil && !memoryd.IsKind(err, memoryd.NotFound):
		v.counters.count(func(s *Stats) { s.LedgerErrors++ })
		return m.e, had
	case err != nil || e.State != memoryd.Judged:
		return memoryd.Evaluation{}, false
	}
	v.recent.Add(key, memo{e, now})
	return e, true
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
