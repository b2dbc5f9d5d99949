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
// decorator: a backend's gate, metrics, faults of tests and a store that is opened
// late are made of it. The call that around carries out checks its arguments
// first, so a backend behind it gets none that can never work. What a store offers
// beyond the contract stays hidden.
func Intercept(around Around) Store { return interceptor{around} }

type interceptor struct{ around Around }

// through carries out a call that has an answer.
func through[T any](ctx context.Context, i interceptor, method string, check error, call func(context.Context, Store) (T, error)) (T, error) {
	var answer, none T
	err := i.plain(ctx, method, check, func(ctx context.Context, s Store) (err error) {
		answer, err = call(ctx, s)
		return err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

// plain carries out a call without an answer.
func (i interceptor) plain(ctx context.Context, method string, check error, call func(context.Context, Store) error) error {
	return i.around(ctx, method, func(ctx context.Context, s Store) error {
		if check != nil {
			return check
		}
		return call(ctx, s)
	})
}

func (i interceptor) Append(ctx context.Context, b Batch) ([]Appended, error) {
	return through(ctx, i, "Append", b.Check(), func(ctx context.Context, s Store) ([]Appended, error) {
		if len(b.Calls) == 0 {
			return nil, nil
		}
		return s.Append(ctx, b)
	})
}

func (i interceptor) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "History", CheckLimit(limit), func(ctx context.Context, s Store) ([]memoryd.Call, error) { return s.History(ctx, ref, limit) })
}

func (i interceptor) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return through(ctx, i, "Samples", nil, func(ctx context.Context, s Store) ([]memoryd.Sample, error) { return s.Samples(ctx, ref) })
}

func (i interceptor) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return through(ctx, i, "Call", nil, func(ctx context.Context, s Store) (memoryd.Call, error) { return s.Call(ctx, ref, key) })
}

func (i interceptor) ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error) {
	return through(ctx, i, "ListCalls", p.Check(), func(ctx context.Context, s Store) ([]memoryd.Call, error) { return s.ListCalls(ctx, ref, p) })
}

func (i interceptor) RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error) {
	return through(ctx, i, "RunCalls", CheckRun(workspace, run, limit), func(ctx context.Context, s Store) ([]RunCall, error) {
		return s.RunCalls(ctx, workspace, run, limit)
	})
}

func (i interceptor) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return through(ctx, i, "Tool", nil, func(ctx context.Context, s Store) (memoryd.Tool, error) { return s.Tool(ctx, ref) })
}

func (i interceptor) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return through(ctx, i, "ListTools", CheckLimit(limit), func(ctx context.Context, s Store) ([]memoryd.Tool, error) {
		return s.ListTools(ctx, workspace, after, limit)
	})
}

func (i interceptor) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return through(ctx, i, "ListWorkspaces", CheckLimit(limit), func(ctx context.Context, s Store) ([]string, error) {
		return s.ListWorkspaces(ctx, after, limit)
	})
}

func (i interceptor) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return i.plain(ctx, "PutGuideline", nil, func(ctx context.Context, s Store) error { return s.PutGuideline(ctx, ref, g, expect) })
}

func (i interceptor) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	return through(ctx, i, "SearchTools", CheckLimit(limit), func(ctx context.Context, s Store) ([]memoryd.Tool, error) {
		return s.SearchTools(ctx, workspace, query, limit)
	})
}

func (i interceptor) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return i.plain(ctx, "RestoreTool", CheckRestore(&t, calls), func(ctx context.Context, s Store) error { return s.RestoreTool(ctx, t, calls) })
}

func (i interceptor) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return i.plain(ctx, "DeleteTool", nil, func(ctx context.Context, s Store) error { return s.DeleteTool(ctx, ref) })
}

func (i interceptor) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return through(ctx, i, "DeleteWorkspace", nil, func(ctx context.Context, s Store) (int, error) { return s.DeleteWorkspace(ctx, workspace) })
}

func (i interceptor) Settle(ctx context.Context, verdicts []Verdict) ([]bool, error) {
	return through(ctx, i, "Settle", CheckVerdicts(verdicts), func(ctx context.Context, s Store) ([]bool, error) {
		if len(verdicts) == 0 {
			return nil, nil
		}
		return s.Settle(ctx, verdicts)
	})
}

func (i interceptor) Override(ctx context.Context, v Verdict) (memoryd.Call, error) {
	return through(ctx, i, "Override", CheckOverride(&v), func(ctx context.Context, s Store) (memoryd.Call, error) { return s.Override(ctx, v) })
}

func (i interceptor) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "Claim", CheckLimit(limit), func(ctx context.Context, s Store) ([]memoryd.Call, error) {
		return s.Claim(ctx, now, lease, limit)
	})
}

func (i interceptor) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return through(ctx, i, "CachedVerdict", nil, func(ctx context.Context, s Store) (memoryd.Evaluation, error) {
		return s.CachedVerdict(ctx, key)
	})
}

func (i interceptor) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return i.plain(ctx, "CacheVerdict", CheckEvaluation(&e), func(ctx context.Context, s Store) error { return s.CacheVerdict(ctx, key, e) })
}

func (i interceptor) PutRecord(ctx context.Context, r Record) (int64, error) {
	return through(ctx, i, "PutRecord", CheckRecord(&r), func(ctx context.Context, s Store) (int64, error) { return s.PutRecord(ctx, r) })
}

func (i interceptor) PutRecords(ctx context.Context, rs []Record) error {
	return i.plain(ctx, "PutRecords", CheckRecords(rs), func(ctx context.Context, s Store) error {
		if len(rs) == 0 {
			return nil
		}
		return s.PutRecords(ctx, rs)
	})
}

func (i interceptor) Record(ctx context.Context, key RecordKey) (Record, error) {
	return through(ctx, i, "Record", CheckRecordKey(key), func(ctx context.Context, s Store) (Record, error) { return s.Record(ctx, key) })
}

func (i interceptor) ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error) {
	return through(ctx, i, "ListRecords", CheckRecordRange(from, limit), func(ctx context.Context, s Store) ([]Record, error) { return s.ListRecords(ctx, from, limit) })
}

func (i interceptor) DeleteRecord(ctx context.Context, key RecordKey) error {
	return i.plain(ctx, "DeleteRecord", CheckRecordKey(key), func(ctx context.Context, s Store) error { return s.DeleteRecord(ctx, key) })
}

func (i interceptor) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return through(ctx, i, "ExpireRecords", CheckLimit(limit), func(ctx context.Context, s Store) (int, error) { return s.ExpireRecords(ctx, now, limit) })
}

func (i interceptor) Ping(ctx context.Context) error {
	return i.plain(ctx, "Ping", nil, func(ctx context.Context, s Store) error { return s.Ping(ctx) })
}

func (i interceptor) Close() error {
	return i.plain(context.Background(), "Close", nil, func(_ context.Context, s Store) error { return s.Close() })
}
