package store

import (
	"context"
	"time"

	"memoryd"
)

// Around stands before a store: it is given the name of each method that is called
// ("Append") and carries the call out on a store of its choice, once, or not at
// all. The error that it returns is what the caller gets; with one the caller gets
// no answer.
type Around func(ctx context.Context, method string, call func(context.Context, Store) error) error

// Intercept returns a store whose calls all pass through around. It is the one
// decorator: metrics, faults of tests and a store that is opened late are made of
// it. What a store offers beyond the contract stays hidden behind it.
func Intercept(around Around) Store { return interceptor{around} }

type interceptor struct{ around Around }

// through carries out a call that has an answer.
func through[T any](ctx context.Context, i interceptor, method string, call func(context.Context, Store) (T, error)) (T, error) {
	var answer, none T
	err := i.around(ctx, method, func(ctx context.Context, s Store) (err error) {
		answer, err = call(ctx, s)
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

func (i interceptor) Append(ctx context.Context, b Batch) ([]Appended, error) {
	return through(ctx, i, "Append", func(ctx context.Context, s Store) ([]Appended, error) { return s.Append(ctx, b) })
}

func (i interceptor) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "History", func(ctx context.Context, s Store) ([]memoryd.Call, error) { return s.History(ctx, ref, limit) })
}

func (i interceptor) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return through(ctx, i, "Samples", func(ctx context.Context, s Store) ([]memoryd.Sample, error) { return s.Samples(ctx, ref) })
}

func (i interceptor) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return through(ctx, i, "Call", func(ctx context.Context, s Store) (memoryd.Call, error) { return s.Call(ctx, ref, key) })
}

func (i interceptor) ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error) {
	return through(ctx, i, "ListCalls", func(ctx context.Context, s Store) ([]memoryd.Call, error) { return s.ListCalls(ctx, ref, p) })
}

func (i interceptor) RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error) {
	return through(ctx, i, "RunCalls", func(ctx context.Context, s Store) ([]RunCall, error) {
		return s.RunCalls(ctx, workspace, run, limit)
	})
}

func (i interceptor) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return through(ctx, i, "Tool", func(ctx context.Context, s Store) (memoryd.Tool, error) { return s.Tool(ctx, ref) })
}

func (i interceptor) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return through(ctx, i, "ListTools", func(ctx context.Context, s Store) ([]memoryd.Tool, error) {
		return s.ListTools(ctx, workspace, after, limit)
	})
}

func (i interceptor) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return through(ctx, i, "ListWorkspaces", func(ctx context.Context, s Store) ([]string, error) {
		return s.ListWorkspaces(ctx, after, limit)
	})
}

func (i interceptor) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return i.around(ctx, "PutGuideline", func(ctx context.Context, s Store) error { return s.PutGuideline(ctx, ref, g, expect) })
}

func (i interceptor) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	return through(ctx, i, "SearchTools", func(ctx context.Context, s Store) ([]memoryd.Tool, error) {
		return s.SearchTools(ctx, workspace, query, limit)
	})
}

func (i interceptor) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return i.around(ctx, "RestoreTool", func(ctx context.Context, s Store) error { return s.RestoreTool(ctx, t, calls) })
}

func (i interceptor) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return i.around(ctx, "DeleteTool", func(ctx context.Context, s Store) error { return s.DeleteTool(ctx, ref) })
}

func (i interceptor) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return through(ctx, i, "DeleteWorkspace", func(ctx context.Context, s Store) (int, error) { return s.DeleteWorkspace(ctx, workspace) })
}

func (i interceptor) Settle(ctx context.Context, verdicts []Verdict) ([]bool, error) {
	return through(ctx, i, "Settle", func(ctx context.Context, s Store) ([]bool, error) { return s.Settle(ctx, verdicts) })
}

func (i interceptor) Override(ctx context.Context, v Verdict) (memoryd.Call, error) {
	return through(ctx, i, "Override", func(ctx context.Context, s Store) (memoryd.Call, error) { return s.Override(ctx, v) })
}

func (i interceptor) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "Claim", func(ctx context.Context, s Store) ([]memoryd.Call, error) {
		return s.Claim(ctx, now, lease, limit)
	})
}

func (i interceptor) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return through(ctx, i, "CachedVerdict", func(ctx context.Context, s Store) (memoryd.Evaluation, error) {
		return s.CachedVerdict(ctx, key)
	})
}

func (i interceptor) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return i.around(ctx, "CacheVerdict", func(ctx context.Context, s Store) error { return s.CacheVerdict(ctx, key, e) })
}

func (i interceptor) PutRecord(ctx context.Context, r Record) (int64, error) {
	return through(ctx, i, "PutRecord", func(ctx context.Context, s Store) (int64, error) { return s.PutRecord(ctx, r) })
}

func (i interceptor) PutRecords(ctx context.Context, rs []Record) error {
	return i.around(ctx, "PutRecords", func(ctx context.Context, s Store) error { return s.PutRecords(ctx, rs) })
}

func (i interceptor) Record(ctx context.Context, key RecordKey) (Record, error) {
	return through(ctx, i, "Record", func(ctx context.Context, s Store) (Record, error) { return s.Record(ctx, key) })
}

func (i interceptor) ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error) {
	return through(ctx, i, "ListRecords", func(ctx context.Context, s Store) ([]Record, error) { return s.ListRecords(ctx, from, limit) })
}

func (i interceptor) DeleteRecord(ctx context.Context, key RecordKey) error {
	return i.around(ctx, "DeleteRecord", func(ctx context.Context, s Store) error { return s.DeleteRecord(ctx, key) })
}

func (i interceptor) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return through(ctx, i, "ExpireRecords", func(ctx context.Context, s Store) (int, error) { return s.ExpireRecords(ctx, now, limit) })
}

func (i interceptor) Ping(ctx context.Context) error {
	return i.around(ctx, "Ping", func(ctx context.Context, s Store) error { return s.Ping(ctx) })
}

func (i interceptor) Close() error {
	return i.around(context.Background(), "Close", func(_ context.Context, s Store) error { return s.Close() })
}
