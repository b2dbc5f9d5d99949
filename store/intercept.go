package store

import (
	"context"
	"slices"
	"time"

	"memoryd"
)

// Bracket is what stands around each call of a store, whose method it is told by its name, such as
// "Append". An error of Begin is the caller's, and nothing is called. End is told how the call
// ended, and gives the error that the caller gets.
type Bracket struct {
	Begin func(ctx context.Context, method string) error
	End   func(method string, took time.Duration, err error) error
}

// Intercept returns a store that puts each call of s into a bracket. Arguments are checked in it.
// Methods beyond the contract are hidden.
func Intercept(s Store, b Bracket) Store { return interceptor{backend: s, bracket: b} }

type interceptor struct {
	backend Store
	bracket Bracket
	drainer *Drainer // of which it is the guard, or nil
}

// through carries out a call of a method. What call captures does not escape: nothing is allocated
// for it.
func through[T any](ctx context.Context, i interceptor, method string, check error, call func() (T, error)) (answer T, err error) {
	begun := time.Now()
	if err := i.bracket.Begin(ctx, method); err != nil {
		return answer, err
	}
	defer func() {
		if failed := i.bracket.End(method, time.Since(begun), err); failed != nil && err == nil {
			var unknown T
			answer, err = unknown, failed
		}
	}()
	if check != nil {
		return answer, check
	}
	return call()
}

// plain is through for a method without an answer.
func plain(ctx context.Context, i interceptor, method string, check error, call func() error) error {
	_, err := through(ctx, i, method, check, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

func (i interceptor) Append(ctx context.Context, b Batch) ([]Appended, error) {
	return through(ctx, i, "Append", b.Check(), func() ([]Appended, error) {
		if len(b.Calls) == 0 {
			return nil, nil
		}
		return i.backend.Append(ctx, b)
	})
}

func (i interceptor) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "History", checkLimit(limit), func() ([]memoryd.Call, error) { return i.backend.History(ctx, ref, limit) })
}

func (i interceptor) Described(ctx context.Context, ref memoryd.ToolRef) (Description, error) {
	return through(ctx, i, "Described", nil, func() (Description, error) { return i.backend.Described(ctx, ref) })
}

func (i interceptor) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return through(ctx, i, "Call", nil, func() (memoryd.Call, error) { return i.backend.Call(ctx, ref, key) })
}

func (i interceptor) ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error) {
	return through(ctx, i, "ListCalls", p.Check(), func() ([]memoryd.Call, error) { return i.backend.ListCalls(ctx, ref, p) })
}

func (i interceptor) RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error) {
	return through(ctx, i, "RunCalls", checkRun(workspace, run, limit), func() ([]RunCall, error) {
		return i.backend.RunCalls(ctx, workspace, run, limit)
	})
}

func (i interceptor) HistorySize(ctx context.Context, ref memoryd.ToolRef) (Size, error) {
	return through(ctx, i, "HistorySize", nil, func() (Size, error) { return i.backend.HistorySize(ctx, ref) })
}

func (i interceptor) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	return through(ctx, i, "DeleteCalls", nil, func() (int, error) {
		if len(keys) == 0 {
			return 0, nil
		}
		return i.backend.DeleteCalls(ctx, ref, keys)
	})
}

func (i interceptor) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return through(ctx, i, "Tool", nil, func() (memoryd.Tool, error) { return i.backend.Tool(ctx, ref) })
}

func (i interceptor) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return through(ctx, i, "ListTools", checkLimit(limit), func() ([]memoryd.Tool, error) {
		return i.backend.ListTools(ctx, workspace, after, limit)
	})
}

func (i interceptor) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return through(ctx, i, "ListWorkspaces", checkLimit(limit), func() ([]string, error) {
		return i.backend.ListWorkspaces(ctx, after, limit)
	})
}

func (i interceptor) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return plain(ctx, i, "PutGuideline", nil, func() error { return i.backend.PutGuideline(ctx, ref, g, expect) })
}

func (i interceptor) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return plain(ctx, i, "RestoreTool", CheckRestore(&t, calls), func() error {
		calls = slices.Clone(calls)
		Renumber(&t, calls)
		return i.backend.RestoreTool(ctx, t, calls)
	})
}

func (i interceptor) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return plain(ctx, i, "DeleteTool", nil, func() error { return i.backend.DeleteTool(ctx, ref) })
}

func (i interceptor) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return through(ctx, i, "DeleteWorkspace", nil, func() (int, error) { return i.backend.DeleteWorkspace(ctx, workspace) })
}

func (i interceptor) Settle(ctx context.Context, verdicts []Verdict) ([]bool, error) {
	return through(ctx, i, "Settle", checkVerdicts(verdicts), func() ([]bool, error) {
		if len(verdicts) == 0 {
			return nil, nil
		}
		return i.backend.Settle(ctx, verdicts)
	})
}

func (i interceptor) Override(ctx context.Context, v Verdict) (memoryd.Call, error) {
	return through(ctx, i, "Override", checkOverride(&v), func() (memoryd.Call, error) { return i.backend.Override(ctx, v) })
}

func (i interceptor) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return through(ctx, i, "Claim", checkLimit(limit), func() ([]memoryd.Call, error) {
		return i.backend.Claim(ctx, now, lease, limit)
	})
}

func (i interceptor) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return through(ctx, i, "CachedVerdict", nil, func() (memoryd.Evaluation, error) { return i.backend.CachedVerdict(ctx, key) })
}

func (i interceptor) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return plain(ctx, i, "CacheVerdict", checkEvaluation(&e), func() error { return i.backend.CacheVerdict(ctx, key, e) })
}

func (i interceptor) PutRecord(ctx context.Context, r Record) (int64, error) {
	return through(ctx, i, "PutRecord", CheckRecord(&r), func() (int64, error) { return i.backend.PutRecord(ctx, r) })
}

func (i interceptor) PutRecords(ctx context.Context, rs []Record) error {
	return plain(ctx, i, "PutRecords", CheckRecords(rs), func() error {
		if len(rs) == 0 {
			return nil
		}
		return i.backend.PutRecords(ctx, rs)
	})
}

func (i interceptor) Record(ctx context.Context, key RecordKey) (Record, error) {
	return through(ctx, i, "Record", checkRecordKey(key), func() (Record, error) { return i.backend.Record(ctx, key) })
}

func (i interceptor) ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error) {
	return through(ctx, i, "ListRecords", checkRecordRange(from, limit), func() ([]Record, error) {
		return i.backend.ListRecords(ctx, from, limit)
	})
}

func (i interceptor) RecordsSize(ctx context.Context, of RecordKey) (Size, error) {
	return through(ctx, i, "RecordsSize", checkRecordRange(of, 0), func() (Size, error) { return i.backend.RecordsSize(ctx, of) })
}

func (i interceptor) DeleteRecord(ctx context.Context, key RecordKey) error {
	return plain(ctx, i, "DeleteRecord", checkRecordKey(key), func() error { return i.backend.DeleteRecord(ctx, key) })
}

func (i interceptor) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return through(ctx, i, "ExpireRecords", checkLimit(limit), func() (int, error) { return i.backend.ExpireRecords(ctx, now, limit) })
}

func (i interceptor) Ping(ctx context.Context) error {
	return plain(ctx, i, "Ping", nil, func() error { return i.backend.Ping(ctx) })
}

func (i interceptor) Close() error {
	if i.drainer == nil {
		return plain(context.Background(), i, "Close", nil, func() error { return i.backend.Close() })
	}
	if !i.drainer.shut() {
		return nil
	}
	return i.backend.Close()
}
