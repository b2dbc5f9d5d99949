package journal

import (
	"context"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/store"
)

var _ store.Store = (*late)(nil)

// Opener opens the remote store. An error that is Unavailable or Overloaded, or
// the end of the context, says that it may succeed later; any other that the
// remote store can never be used as it is.
type Opener func(ctx context.Context) (store.Store, error)

// late is a remote store that could not be opened yet. Until it is, every method
// fails as unavailable and nothing was done.
type late struct {
	open   Opener
	opened atomic.Pointer[store.Store]
}

// connect opens the remote store unless that has been done. One goroutine at a
// time calls it.
func (l *late) connect(ctx context.Context) error {
	if l.opened.Load() != nil {
		return nil
	}
	remote, err := l.open(ctx)
	if err == nil {
		l.opened.Store(&remote)
	}
	return err
}

// reach puts a question to the remote store.
func reach[T any](l *late, question func(store.Store) (T, error)) (v T, err error) {
	remote := l.opened.Load()
	if remote == nil {
		return v, memoryd.Errorf(memoryd.Unavailable, "the remote store has not been reached yet")
	}
	return question(*remote)
}

// reachNone is reach for methods without an answer.
func reachNone(l *late, question func(store.Store) error) error {
	_, err := reach(l, func(r store.Store) (struct{}, error) { return struct{}{}, question(r) })
	return err
}

// Close closes the remote store if it was opened.
func (l *late) Close() error {
	if remote := l.opened.Load(); remote != nil {
		return (*remote).Close()
	}
	return nil
}

func (l *late) Ping(ctx context.Context) error {
	return reachNone(l, func(r store.Store) error { return r.Ping(ctx) })
}

func (l *late) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	return reach(l, func(r store.Store) ([]store.Appended, error) { return r.Append(ctx, b) })
}

func (l *late) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return reach(l, func(r store.Store) ([]memoryd.Call, error) { return r.History(ctx, ref, limit) })
}

func (l *late) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return reach(l, func(r store.Store) ([]memoryd.Sample, error) { return r.Samples(ctx, ref) })
}

func (l *late) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return reach(l, func(r store.Store) (memoryd.Call, error) { return r.Call(ctx, ref, key) })
}

func (l *late) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	return reach(l, func(r store.Store) ([]memoryd.Call, error) { return r.ListCalls(ctx, ref, p) })
}

func (l *late) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	return reach(l, func(r store.Store) ([]store.RunCall, error) { return r.RunCalls(ctx, workspace, run, limit) })
}

func (l *late) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return reach(l, func(r store.Store) (memoryd.Tool, error) { return r.Tool(ctx, ref) })
}

func (l *late) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return reach(l, func(r store.Store) ([]memoryd.Tool, error) { return r.ListTools(ctx, workspace, after, limit) })
}

func (l *late) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return reach(l, func(r store.Store) ([]string, error) { return r.ListWorkspaces(ctx, after, limit) })
}

func (l *late) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	return reach(l, func(r store.Store) ([]memoryd.Tool, error) { return r.SearchTools(ctx, workspace, query, limit) })
}

func (l *late) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return reachNone(l, func(r store.Store) error { return r.PutGuideline(ctx, ref, g, expect) })
}

func (l *late) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return reachNone(l, func(r store.Store) error { return r.RestoreTool(ctx, t, calls) })
}

func (l *late) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return reachNone(l, func(r store.Store) error { return r.DeleteTool(ctx, ref) })
}

func (l *late) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return reach(l, func(r store.Store) (int, error) { return r.DeleteWorkspace(ctx, workspace) })
}

func (l *late) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	return reach(l, func(r store.Store) ([]bool, error) { return r.Settle(ctx, verdicts) })
}

func (l *late) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	return reach(l, func(r store.Store) (memoryd.Call, error) { return r.Override(ctx, v) })
}

func (l *late) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return reach(l, func(r store.Store) ([]memoryd.Call, error) { return r.Claim(ctx, now, lease, limit) })
}

func (l *late) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return reach(l, func(r store.Store) (memoryd.Evaluation, error) { return r.CachedVerdict(ctx, key) })
}

func (l *late) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return reachNone(l, func(r store.Store) error { return r.CacheVerdict(ctx, key, e) })
}

func (l *late) PutRecord(ctx context.Context, rec store.Record) (int64, error) {
	return reach(l, func(r store.Store) (int64, error) { return r.PutRecord(ctx, rec) })
}

func (l *late) PutRecords(ctx context.Context, recs []store.Record) error {
	return reachNone(l, func(r store.Store) error { return r.PutRecords(ctx, recs) })
}

func (l *late) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	return reach(l, func(r store.Store) (store.Record, error) { return r.Record(ctx, key) })
}

func (l *late) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	return reach(l, func(r store.Store) ([]store.Record, error) { return r.ListRecords(ctx, from, limit) })
}

func (l *late) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	return reachNone(l, func(r store.Store) error { return r.DeleteRecord(ctx, key) })
}

func (l *late) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return reach(l, func(r store.Store) (int, error) { return r.ExpireRecords(ctx, now, limit) })
}
