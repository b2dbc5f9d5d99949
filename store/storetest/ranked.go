package storetest

import (
	"context"
	"sync"
	"testing"
	"time"

	"memoryd"
	"memoryd/store"
)

// ranked gives a backend whose stores number calls without gaps, for a backend
// that leaves some: cases can then name numbers.
func (b Backend) ranked() Backend {
	if !b.Gaps {
		return b
	}
	wrapped := b
	wrapped.Open = func(t *testing.T) store.Store { return newRanks(t, b.Open(t)) }
	if b.Reopen != nil {
		wrapped.Reopen = func(t *testing.T, s store.Store) store.Store {
			return newRanks(t, b.Reopen(t, s.(*ranks).Store))
		}
	}
	return wrapped
}

// ranks puts in the place of each call's number its rank: the newest kept call
// has that of the tool's lifetime, as store.Renumber does. It checks that the
// numbers of the store below grow.
type ranks struct {
	store.Store
	t *testing.T

	mu    sync.Mutex
	given map[memoryd.ToolRef]int64 // ranks given to accepted calls
	last  map[memoryd.ToolRef]int64 // the largest number of a finished append
}

func newRanks(t *testing.T, s store.Store) *ranks {
	return &ranks{Store: s, t: t, given: map[memoryd.ToolRef]int64{}, last: map[memoryd.ToolRef]int64{}}
}

// Append returns ranks in the order in which appends finish.
func (r *ranks) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	before := r.begin(ctx, b)
	out, err := r.Store.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range out {
		if !out[i].New {
			continue
		}
		ref := memoryd.ToolRef{Workspace: b.Workspace, Tool: b.Calls[i].Tool}
		if out[i].Seq <= before[ref] || out[i].Seq >= 1<<53 {
			r.t.Errorf("%q: number %d after %d", ref.Tool, out[i].Seq, before[ref])
		}
		before[ref] = out[i].Seq
		r.last[ref] = max(r.last[ref], out[i].Seq)
		r.given[ref]++
		out[i].Seq = r.given[ref]
	}
	return out, nil
}

// begin notes the largest numbers so far, and how many calls a tool had that
// this store does not know yet.
func (r *ranks) begin(ctx context.Context, b store.Batch) map[memoryd.ToolRef]int64 {
	before := map[memoryd.ToolRef]int64{}
	for i := range b.Calls {
		ref := memoryd.ToolRef{Workspace: b.Workspace, Tool: b.Calls[i].Tool}
		r.mu.Lock()
		_, known := r.given[ref]
		before[ref] = r.last[ref]
		if !known {
			r.given[ref] = 0
			if t, err := r.Tool(ctx, ref); err == nil {
				r.given[ref] = t.Lifetime
			}
		}
		r.mu.Unlock()
	}
	return before
}

// forget drops what is known of tools that may be gone; an empty name means all
// of the workspace.
func (r *ranks) forget(ref memoryd.ToolRef) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for known := range r.given {
		if known.Workspace == ref.Workspace && (ref.Tool == "" || ref.Tool == known.Tool) {
			delete(r.given, known)
			delete(r.last, known)
		}
	}
}

// ranksOf gives the rank of each kept call by its number.
func (r *ranks) ranksOf(ctx context.Context, ref memoryd.ToolRef) map[int64]int64 {
	out := map[int64]int64{}
	t, err := r.Tool(ctx, ref)
	if err != nil {
		return out
	}
	d, err := r.Store.Described(ctx, ref)
	if err := memoryd.Except(err, memoryd.NotFound); err != nil {
		r.t.Errorf("samples: %v", err)
	}
	samples := d.Samples
	for i := range samples {
		if i > 0 && samples[i].Seq <= samples[i-1].Seq {
			r.t.Errorf("%q: number %d after %d", ref.Tool, samples[i].Seq, samples[i-1].Seq)
		}
		out[samples[i].Seq] = t.Lifetime - int64(len(samples)-1-i)
	}
	return out
}

func (r *ranks) number(ctx context.Context, calls []memoryd.Call) []memoryd.Call {
	known := map[memoryd.ToolRef]map[int64]int64{}
	for i := range calls {
		ref := calls[i].ToolRef
		if known[ref] == nil {
			known[ref] = r.ranksOf(ctx, ref)
		}
		calls[i].Seq = known[ref][calls[i].Seq]
	}
	return calls
}

// History numbers the calls by rank.
func (r *ranks) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	calls, err := r.Store.History(ctx, ref, limit)
	return r.number(ctx, calls), err
}

// Call numbers the call by rank.
func (r *ranks) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	c, err := r.Store.Call(ctx, ref, key)
	if err != nil {
		return c, err
	}
	return r.number(ctx, []memoryd.Call{c})[0], nil
}

// ListCalls numbers the calls by rank, and reads the end of the page as a rank.
func (r *ranks) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	if p.Before > 0 {
		before := int64(1) << 52
		for number, rank := range r.ranksOf(ctx, ref) {
			if rank >= p.Before {
				before = min(before, number)
			}
		}
		p.Before = before
	}
	calls, err := r.Store.ListCalls(ctx, ref, p)
	return r.number(ctx, calls), err
}

// Described numbers the samples by rank.
func (r *ranks) Described(ctx context.Context, ref memoryd.ToolRef) (store.Description, error) {
	d, err := r.Store.Described(ctx, ref)
	if len(d.Samples) > 0 {
		of := r.ranksOf(ctx, ref)
		for i := range d.Samples {
			d.Samples[i].Seq = of[d.Samples[i].Seq]
		}
	}
	return d, err
}

// Claim numbers the calls by rank.
func (r *ranks) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	calls, err := r.Store.Claim(ctx, now, lease, limit)
	return r.number(ctx, calls), err
}

// Override numbers the call by rank.
func (r *ranks) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	c, err := r.Store.Override(ctx, v)
	if err != nil {
		return c, err
	}
	return r.number(ctx, []memoryd.Call{c})[0], nil
}

// RestoreTool forgets what was known about an earlier tool of that name.
func (r *ranks) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	err := r.Store.RestoreTool(ctx, t, calls)
	if err == nil {
		r.forget(t.ToolRef)
	}
	return err
}

// DeleteTool forgets the tool.
func (r *ranks) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	err := r.Store.DeleteTool(ctx, ref)
	if err == nil && ref.Tool != "" {
		r.forget(ref)
	}
	return err
}

// DeleteWorkspace forgets its tools.
func (r *ranks) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	n, err := r.Store.DeleteWorkspace(ctx, workspace)
	if err == nil {
		r.forget(memoryd.ToolRef{Workspace: workspace})
	}
	return n, err
}
