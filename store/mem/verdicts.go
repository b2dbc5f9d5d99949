package mem

import (
	"cmp"
	"context"
	"slices"
	"time"

	"memoryd"
	"memoryd/store"
)

// Settle implements store.Verdicts.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	now := time.Now()
	out := make([]bool, len(verdicts))
	for i := range verdicts {
		out[i] = s.settle(&verdicts[i], now)
	}
	return out, nil
}

func (s *backend) settle(v *store.Verdict, now time.Time) bool {
	t := s.find(v.ToolRef)
	if t == nil {
		return false
	}
	c := t.byKey(v.Key)
	if c == nil || c.Evaluation.State != memoryd.Pending {
		return false
	}
	c.lease = time.Time{}
	if v.Evaluation.State == memoryd.Pending {
		c.Evaluation.Attempts = v.Evaluation.Attempts
		c.Evaluation.LastError = v.Evaluation.LastError
		c.Evaluation.NotBefore = v.Evaluation.NotBefore
		return true
	}
	c.Evaluation = v.Evaluation
	t.Revision++
	t.Modified = now
	return true
}

// Override implements store.Verdicts.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	t := s.find(v.ToolRef)
	if t == nil {
		return memoryd.Call{}, store.UnknownCall()
	}
	c := t.byKey(v.Key)
	if c == nil {
		return memoryd.Call{}, store.UnknownCall()
	}
	before := cloneCall(&c.Call)
	c.Evaluation, c.lease = v.Evaluation, time.Time{}
	v.Amendment.Apply(&c.Call)
	t.Revision++
	t.Modified = time.Now()
	return before, nil
}

// Claim implements store.Verdicts. It looks at every kept call: what a
// reference may do and a backend with a million calls may not.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	var ready []*call
	for _, sp := range s.spaces {
		for _, t := range sp.tools {
			for _, c := range t.calls {
				e := &c.Evaluation
				if e.State == memoryd.Pending && !e.NotBefore.After(now) && !c.lease.After(now) {
					ready = append(ready, c)
				}
			}
		}
	}
	slices.SortFunc(ready, func(a, b *call) int { return cmp.Compare(a.accepted, b.accepted) })
	ready = ready[:min(limit, len(ready))]
	out := make([]memoryd.Call, len(ready))
	for i, c := range ready {
		c.lease = now.Add(lease)
		out[i] = cloneCall(&c.Call)
		out[i].Evaluation.NotBefore = c.lease
	}
	return out, nil
}

// CachedVerdict implements store.Verdicts.
func (s *backend) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	e, ok := s.verdicts[key]
	if !ok {
		return e, store.UnknownVerdict()
	}
	return e, nil
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	s.verdicts[key] = e
	return nil
}
