package metrics

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// Append implements store.Calls.
func (o *observedStore) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	start := time.Now()
	v, err := o.Store.Append(ctx, b)
	o.done("append", start, err)
	return v, err
}

// History implements store.Calls.
func (o *observedStore) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	start := time.Now()
	v, err := o.Store.History(ctx, ref, limit)
	o.done("history", start, err)
	return v, err
}

// Samples implements store.Calls.
func (o *observedStore) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	start := time.Now()
	v, err := o.Store.Samples(ctx, ref)
	o.done("samples", start, err)
	return v, err
}

// Settle implements store.Verdicts.
func (o *observedStore) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	start := time.Now()
	v, err := o.Store.Settle(ctx, verdicts)
	o.done("settle", start, err)
	return v, err
}

// Override implements store.Verdicts.
func (o *observedStore) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	start := time.Now()
	c, err := o.Store.Override(ctx, v)
	o.done("override", start, err)
	return c, err
}

// Claim implements store.Verdicts.
func (o *observedStore) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	start := time.Now()
	v, err := o.Store.Claim(ctx, now, lease, limit)
	o.done("claim", start, err)
	return v, err
}

// CachedVerdict implements store.Verdicts.
func (o *observedStore) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	start := time.Now()
	v, err := o.Store.CachedVerdict(ctx, key)
	o.done("cached_verdict", start, err)
	return v, err
}

// CacheVerdict implements store.Verdicts.
func (o *observedStore) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	start := time.Now()
	err := o.Store.CacheVerdict(ctx, key, e)
	o.done("cache_verdict", start, err)
	return err
}
