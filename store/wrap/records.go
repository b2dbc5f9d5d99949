package wrap

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// SearchTools implements store.Tools.
func (f *Faults) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	return around(f, "SearchTools", func() ([]memoryd.Tool, error) {
		return f.Store.SearchTools(ctx, workspace, query, limit)
	})
}

// RestoreTool implements store.Tools.
func (f *Faults) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return aroundNone(f, "RestoreTool", func() error { return f.Store.RestoreTool(ctx, t, calls) })
}

// PutRecord implements store.Records.
func (f *Faults) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	return around(f, "PutRecord", func() (int64, error) { return f.Store.PutRecord(ctx, r) })
}

// PutRecords implements store.Records.
func (f *Faults) PutRecords(ctx context.Context, rs []store.Record) error {
	return aroundNone(f, "PutRecords", func() error { return f.Store.PutRecords(ctx, rs) })
}

// Record implements store.Records.
func (f *Faults) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	return around(f, "Record", func() (store.Record, error) { return f.Store.Record(ctx, key) })
}

// ListRecords implements store.Records.
func (f *Faults) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	return around(f, "ListRecords", func() ([]store.Record, error) { return f.Store.ListRecords(ctx, from, limit) })
}

// DeleteRecord implements store.Records.
func (f *Faults) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	return aroundNone(f, "DeleteRecord", func() error { return f.Store.DeleteRecord(ctx, key) })
}

// ExpireRecords implements store.Records.
func (f *Faults) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return around(f, "ExpireRecords", func() (int, error) { return f.Store.ExpireRecords(ctx, now, limit) })
}
