// Package wrap decorates stores. Faults, for tests only, makes any call fail
// where and when a test says.
package wrap

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

var _ store.Store = (*Faults)(nil)

// Stage is the side of a call at which a fault strikes.
type Stage int

// A fault Before the call leaves the store untouched. One After it loses the
// acknowledgement: the call has taken effect and its caller hears an error.
const (
	Before Stage = iota
	After
)

// Faults passes every call on to Store and asks Fail before and after it.
type Faults struct {
	Store store.Store
	// Fail is given the method's name ("Append") and the stage; an error that it
	// returns is what the caller gets. It is not asked after a call that failed
	// by itself. It must be safe for concurrent use; nil means no faults.
	Fail func(method string, stage Stage) error
}

// around is one call with its faults.
func around[T any](f *Faults, method string, call func() (T, error)) (T, error) {
	var none T
	if f.Fail == nil {
		return call()
	}
	if err := f.Fail(method, Before); err != nil {
		return none, err
	}
	v, err := call()
	if err != nil {
		return v, err
	}
	if err := f.Fail(method, After); err != nil {
		return none, err
	}
	return v, nil
}

// aroundNone is around for calls without an answer.
func aroundNone(f *Faults, method string, call func() error) error {
	_, err := around(f, method, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// Append implements store.Calls.
func (f *Faults) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	return around(f, "Append", func() ([]store.Appended, error) { return f.Store.Append(ctx, b) })
}

// History implements store.Calls.
func (f *Faults) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return around(f, "History", func() ([]memoryd.Call, error) { return f.Store.History(ctx, ref, limit) })
}

// Samples implements store.Calls.
func (f *Faults) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return around(f, "Samples", func() ([]memoryd.Sample, error) { return f.Store.Samples(ctx, ref) })
}

// Call implements store.Calls.
func (f *Faults) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return around(f, "Call", func() (memoryd.Call, error) { return f.Store.Call(ctx, ref, key) })
}

// ListCalls implements store.Calls.
func (f *Faults) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	return around(f, "ListCalls", func() ([]memoryd.Call, error) { return f.Store.ListCalls(ctx, ref, p) })
}

// RunCalls implements store.Calls.
func (f *Faults) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	return around(f, "RunCalls", func() ([]store.RunCall, error) { return f.Store.RunCalls(ctx, workspace, run, limit) })
}

// Tool implements store.Tools.
func (f *Faults) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return around(f, "Tool", func() (memoryd.Tool, error) { return f.Store.Tool(ctx, ref) })
}

// ListTools implements store.Tools.
func (f *Faults) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return around(f, "ListTools", func() ([]memoryd.Tool, error) {
		return f.Store.ListTools(ctx, workspace, after, limit)
	})
}

// ListWorkspaces implements store.Tools.
func (f *Faults) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return around(f, "ListWorkspaces", func() ([]string, error) { return f.Store.ListWorkspaces(ctx, after, limit) })
}

// PutGuideline implements store.Tools.
func (f *Faults) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return aroundNone(f, "PutGuideline", func() error { return f.Store.PutGuideline(ctx, ref, g, expect) })
}

// DeleteTool implements store.Tools.
func (f *Faults) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return aroundNone(f, "DeleteTool", func() error { return f.Store.DeleteTool(ctx, ref) })
}

// DeleteWorkspace implements store.Tools.
func (f *Faults) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return around(f, "DeleteWorkspace", func() (int, error) { return f.Store.DeleteWorkspace(ctx, workspace) })
}

// Settle implements store.Verdicts.
func (f *Faults) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	return around(f, "Settle", func() ([]bool, error) { return f.Store.Settle(ctx, verdicts) })
}

// Claim implements store.Verdicts.
func (f *Faults) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return around(f, "Claim", func() ([]memoryd.Call, error) { return f.Store.Claim(ctx, now, lease, limit) })
}

// CachedVerdict implements store.Verdicts.
func (f *Faults) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return around(f, "CachedVerdict", func() (memoryd.Evaluation, error) { return f.Store.CachedVerdict(ctx, key) })
}

// CacheVerdict implements store.Verdicts.
func (f *Faults) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return aroundNone(f, "CacheVerdict", func() error { return f.Store.CacheVerdict(ctx, key, e) })
}

// Override implements store.Verdicts.
func (f *Faults) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	return around(f, "Override", func() (memoryd.Call, error) { return f.Store.Override(ctx, v) })
}

// Ping implements store.Store.
func (f *Faults) Ping(ctx context.Context) error {
	return aroundNone(f, "Ping", func() error { return f.Store.Ping(ctx) })
}

// Close implements store.Store.
func (f *Faults) Close() error {
	return aroundNone(f, "Close", f.Store.Close)
}
