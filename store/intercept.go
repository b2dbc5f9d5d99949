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

// through1 carries out a call of a method with one argument. Where call captures nothing, nothing is
// allocated for it.
func through1[A, T any](ctx context.Context, i interceptor, method string, check error,
	call func(Store, context.Context, A) (T, error), a A,
) (answer T, err error) {
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
	return call(i.backend, ctx, a)
}

// args are what a method of an interceptor passes on: another method and its arguments.
type (
	args1[A any] struct {
		call func(Store, context.Context, A) error
		a    A
	}
	args2[A, B, T any] struct {
		call func(Store, context.Context, A, B) (T, error)
		a    A
		b    B
	}
	args3[A, B, C, T any] struct {
		call func(Store, context.Context, A, B, C) (T, error)
		a    A
		b    B
		c    C
	}
	none = struct{}
)

// plain is through1 for a method without an answer.
func plain[A any](ctx context.Context, i interceptor, method string, check error,
	call func(Store, context.Context, A) error, a A,
) error {
	_, err := through1(ctx, i, method, check, func(s Store, ctx context.Context, x args1[A]) (none, error) {
		return none{}, x.call(s, ctx, x.a)
	}, args1[A]{call, a})
	return err
}

// through2 and through3 are through1 for methods with more arguments.
func through2[A, B, T any](ctx context.Context, i interceptor, method string, check error,
	call func(Store, context.Context, A, B) (T, error), a A, b B,
) (T, error) {
	return through1(ctx, i, method, check, func(s Store, ctx context.Context, x args2[A, B, T]) (T, error) {
		return x.call(s, ctx, x.a, x.b)
	}, args2[A, B, T]{call, a, b})
}

func through3[A, B, C, T any](ctx context.Context, i interceptor, method string, check error,
	call func(Store, context.Context, A, B, C) (T, error), a A, b B, c C,
) (T, error) {
	return through1(ctx, i, method, check, func(s Store, ctx context.Context, x args3[A, B, C, T]) (T, error) {
		return x.call(s, ctx, x.a, x.b, x.c)
	}, args3[A, B, C, T]{call, a, b, c})
}

func (i interceptor) Append(ctx context.Context, b Batch) ([]Appended, error) {
	return through1(ctx, i, "Append", b.Check(), func(s Store, ctx context.Context, b Batch) ([]Appended, error) {
		if len(b.Calls) == 0 {
			return nil, nil
		}
		return s.Append(ctx, b)
	}, b)
}

func (i interceptor) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return through2(ctx, i, "History", checkLimit(limit), Store.History, ref, limit)
}

func (i interceptor) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	return through1(ctx, i, "Samples", nil, Store.Samples, ref)
}

func (i interceptor) Described(ctx context.Context, ref memoryd.ToolRef) (Description, error) {
	return through1(ctx, i, "Described", nil, Store.Described, ref)
}

func (i interceptor) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return through2(ctx, i, "Call", nil, Store.Call, ref, key)
}

func (i interceptor) ListCalls(ctx context.Context, ref memoryd.ToolRef, p CallPage) ([]memoryd.Call, error) {
	return through2(ctx, i, "ListCalls", p.Check(), Store.ListCalls, ref, p)
}

func (i interceptor) RunCalls(ctx context.Context, workspace, run string, limit int) ([]RunCall, error) {
	return through3(ctx, i, "RunCalls", checkRun(workspace, run, limit), Store.RunCalls, workspace, run, limit)
}

func (i interceptor) HistorySize(ctx context.Context, ref memoryd.ToolRef) (Size, error) {
	return through1(ctx, i, "HistorySize", nil, Store.HistorySize, ref)
}

func (i interceptor) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	return through2(ctx, i, "DeleteCalls", nil, func(s Store, ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
		if len(keys) == 0 {
			return 0, nil
		}
		return s.DeleteCalls(ctx, ref, keys)
	}, ref, keys)
}

func (i interceptor) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	return through1(ctx, i, "Tool", nil, Store.Tool, ref)
}

func (i interceptor) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return through3(ctx, i, "ListTools", checkLimit(limit), Store.ListTools, workspace, after, limit)
}

func (i interceptor) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return through2(ctx, i, "ListWorkspaces", checkLimit(limit), Store.ListWorkspaces, after, limit)
}

func (i interceptor) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	_, err := through3(ctx, i, "PutGuideline", nil,
		func(s Store, ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) (none, error) {
			return none{}, s.PutGuideline(ctx, ref, g, expect)
		}, ref, g, expect)
	return err
}

func (i interceptor) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	_, err := through2(ctx, i, "RestoreTool", CheckRestore(&t, calls),
		func(s Store, ctx context.Context, t memoryd.Tool, calls []memoryd.Call) (none, error) {
			calls = slices.Clone(calls)
			Renumber(&t, calls)
			return none{}, s.RestoreTool(ctx, t, calls)
		}, t, calls)
	return err
}

func (i interceptor) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return plain(ctx, i, "DeleteTool", nil, Store.DeleteTool, ref)
}

func (i interceptor) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	return through1(ctx, i, "DeleteWorkspace", nil, Store.DeleteWorkspace, workspace)
}

func (i interceptor) Settle(ctx context.Context, verdicts []Verdict) ([]bool, error) {
	return through1(ctx, i, "Settle", checkVerdicts(verdicts), func(s Store, ctx context.Context, verdicts []Verdict) ([]bool, error) {
		if len(verdicts) == 0 {
			return nil, nil
		}
		return s.Settle(ctx, verdicts)
	}, verdicts)
}

func (i interceptor) Override(ctx context.Context, v Verdict) (memoryd.Call, error) {
	return through1(ctx, i, "Override", checkOverride(&v), Store.Override, v)
}

func (i interceptor) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	return through3(ctx, i, "Claim", checkLimit(limit), Store.Claim, now, lease, limit)
}

func (i interceptor) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	return through1(ctx, i, "CachedVerdict", nil, Store.CachedVerdict, key)
}

func (i interceptor) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	_, err := through2(ctx, i, "CacheVerdict", checkEvaluation(&e),
		func(s Store, ctx context.Context, key [16]byte, e memoryd.Evaluation) (none, error) {
			return none{}, s.CacheVerdict(ctx, key, e)
		}, key, e)
	return err
}

func (i interceptor) PutRecord(ctx context.Context, r Record) (int64, error) {
	return through1(ctx, i, "PutRecord", CheckRecord(&r), Store.PutRecord, r)
}

func (i interceptor) PutRecords(ctx context.Context, rs []Record) error {
	return plain(ctx, i, "PutRecords", CheckRecords(rs), func(s Store, ctx context.Context, rs []Record) error {
		if len(rs) == 0 {
			return nil
		}
		return s.PutRecords(ctx, rs)
	}, rs)
}

func (i interceptor) Record(ctx context.Context, key RecordKey) (Record, error) {
	return through1(ctx, i, "Record", checkRecordKey(key), Store.Record, key)
}

func (i interceptor) ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error) {
	return through2(ctx, i, "ListRecords", checkRecordRange(from, limit), Store.ListRecords, from, limit)
}

func (i interceptor) RecordsSize(ctx context.Context, of RecordKey) (Size, error) {
	return through1(ctx, i, "RecordsSize", checkRecordRange(of, 0), Store.RecordsSize, of)
}

func (i interceptor) DeleteRecord(ctx context.Context, key RecordKey) error {
	return plain(ctx, i, "DeleteRecord", checkRecordKey(key), Store.DeleteRecord, key)
}

func (i interceptor) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return through2(ctx, i, "ExpireRecords", checkLimit(limit), Store.ExpireRecords, now, limit)
}

func (i interceptor) Ping(ctx context.Context) error {
	return plain(ctx, i, "Ping", nil, func(s Store, ctx context.Context, _ none) error { return s.Ping(ctx) }, none{})
}

func (i interceptor) Close() error {
	if i.drainer == nil {
		return plain(context.Background(), i, "Close", nil, func(s Store, _ context.Context, _ none) error { return s.Close() }, none{})
	}
	if !i.drainer.shut() {
		return nil
	}
	return i.backend.Close()
}
