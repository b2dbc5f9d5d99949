package linear

import (
	"context"
	"sync/atomic"

	"memoryd"
	"memoryd/store"
)

// broken answers some calls wrongly, once in a while.
type broken struct {
	store.Store
	calls   atomic.Int64
	tool    func(ctx context.Context, b *broken, ref memoryd.ToolRef) (memoryd.Tool, error)
	history func(ctx context.Context, b *broken, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error)
	append  func(ctx context.Context, b *broken, batch store.Batch) ([]store.Appended, error)
	put     func(ctx context.Context, b *broken, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error
	settle  func(ctx context.Context, b *broken, vs []store.Verdict) ([]bool, error)
	stale   atomic.Pointer[memoryd.Tool]
}

// strikes is true for every fifth call.
func (b *broken) strikes() bool { return b.calls.Add(1)%5 == 0 }

func (b *broken) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	if b.tool == nil || !b.strikes() {
		return b.Store.Tool(ctx, ref)
	}
	return b.tool(ctx, b, ref)
}

func (b *broken) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if b.history == nil || !b.strikes() {
		return b.Store.History(ctx, ref, limit)
	}
	return b.history(ctx, b, ref, limit)
}

func (b *broken) Append(ctx context.Context, batch store.Batch) ([]store.Appended, error) {
	if b.append == nil || !b.strikes() {
		return b.Store.Append(ctx, batch)
	}
	return b.append(ctx, b, batch)
}

func (b *broken) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	if b.put == nil || !b.strikes() {
		return b.Store.PutGuideline(ctx, ref, g, expect)
	}
	return b.put(ctx, b, ref, g, expect)
}

func (b *broken) Settle(ctx context.Context, vs []store.Verdict) ([]bool, error) {
	if b.settle == nil || !b.strikes() {
		return b.Store.Settle(ctx, vs)
	}
	return b.settle(ctx, b, vs)
}

// faults are ways for a store to break its promises.
func faults() map[string]func(store.Store) store.Store {
	return map[string]func(store.Store) store.Store{
		"counters of an earlier moment": func(s store.Store) store.Store {
			return &broken{Store: s, tool: staleTool}
		},
		"a history without the newest call": func(s store.Store) store.Store {
			return &broken{Store: s, history: func(ctx context.Context, b *broken, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
				calls, err := b.Store.History(ctx, ref, limit)
				return calls[:max(0, len(calls)-1)], err
			}}
		},
		"an acknowledged batch that is dropped": func(s store.Store) store.Store {
			return &broken{Store: s, append: func(_ context.Context, _ *broken, batch store.Batch) ([]store.Appended, error) {
				return make([]store.Appended, len(batch.Calls)), nil
			}}
		},
		"a batch applied twice": func(s store.Store) store.Store {
			return &broken{Store: s, append: appendTwice}
		},
		"guidelines without compare-and-set": func(s store.Store) store.Store {
			return &broken{Store: s, put: putAnyway}
		},
		"a verdict that is not written": func(s store.Store) store.Store {
			return &broken{Store: s, settle: func(_ context.Context, _ *broken, vs []store.Verdict) ([]bool, error) {
				out := make([]bool, len(vs))
				out[0] = true
				return out, nil
			}}
		},
	}
}

// staleTool answers with what it read the last time.
func staleTool(ctx context.Context, b *broken, ref memoryd.ToolRef) (memoryd.Tool, error) {
	now, err := b.Store.Tool(ctx, ref)
	if old := b.stale.Swap(&now); old != nil && old.ToolRef == ref {
		return *old, nil
	}
	return now, err
}

// appendTwice forgets that it did: the second time has other keys.
func appendTwice(ctx context.Context, b *broken, batch store.Batch) ([]store.Appended, error) {
	out, err := b.Store.Append(ctx, batch)
	if err != nil {
		return nil, err
	}
	again := batch
	again.Calls = append([]memoryd.Call(nil), batch.Calls...)
	for i := range again.Calls {
		again.Calls[i].Key[15] = 1
	}
	_, err = b.Store.Append(ctx, again)
	return out, err
}

// putAnyway reads the revision itself: the last writer wins.
func putAnyway(ctx context.Context, b *broken, ref memoryd.ToolRef, g memoryd.Guideline, _ int64) error {
	t, err := b.Store.Tool(ctx, ref)
	if err != nil {
		return err
	}
	return b.Store.PutGuideline(ctx, ref, g, t.Guideline.Revision)
}
