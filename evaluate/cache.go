package evaluate

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"

	"memoryd"
)

// verdictKey is the identity of a verdict: calls with the same key get the same
// one from the model. It is the first 16 bytes of SHA-256 over all parts, each
// with its length before it. Costs and times do not count.
func verdictKey(judgeVersion string, c *memoryd.Call) [16]byte {
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

// memoSize is how many verdicts are remembered in the process.
const memoSize = 2048

// verdicts is the verdict cache: the store's, which all processes share, behind
// a small memory of this one. The memory also bridges the time while the store
// cannot be written, so that no verdict is paid for twice.
type verdicts struct {
	shared Cache
	tally  *tally

	mu     sync.Mutex
	byKey  map[[16]byte]*list.Element // of memo
	recent *list.List
}

type memo struct {
	key [16]byte
	e   memoryd.Evaluation
}

func newVerdicts(shared Cache, t *tally) *verdicts {
	return &verdicts{shared: shared, tally: t, byKey: map[[16]byte]*list.Element{}, recent: list.New()}
}

// find gives the model's verdict for key as a verdict from the cache.
func (v *verdicts) find(ctx context.Context, key [16]byte, now time.Time) (memoryd.Evaluation, bool) {
	e, ok := v.remembered(key)
	if !ok {
		var err error
		e, err = v.shared.CachedVerdict(ctx, key)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			v.tally.count(func(s *Stats) { s.LedgerErrors++ })
		}
		if err != nil || e.State != memoryd.Judged {
			return memoryd.Evaluation{}, false
		}
		v.remember(key, e)
	}
	return asCached(e, now), true
}

// asCached is a verdict as a later, equal call takes it over.
func asCached(e memoryd.Evaluation, now time.Time) memoryd.Evaluation {
	e.JudgedBy, e.JudgedAt = memoryd.JudgedByCache, now
	e.Attempts, e.LastError, e.NotBefore = 0, "", time.Time{}
	return e
}

// keep remembers a verdict of the model, here and in the store.
func (v *verdicts) keep(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	v.remember(key, e)
	return v.shared.CacheVerdict(ctx, key, e)
}

func (v *verdicts) remembered(key [16]byte) (memoryd.Evaluation, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	el, ok := v.byKey[key]
	if !ok {
		return memoryd.Evaluation{}, false
	}
	v.recent.MoveToFront(el)
	return el.Value.(memo).e, true
}

func (v *verdicts) remember(key [16]byte, e memoryd.Evaluation) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if el, ok := v.byKey[key]; ok {
		el.Value = memo{key, e}
		v.recent.MoveToFront(el)
		return
	}
	for v.recent.Len() >= memoSize {
		delete(v.byKey, v.recent.Remove(v.recent.Back()).(memo).key)
	}
	v.byKey[key] = v.recent.PushFront(memo{key, e})
}
