package metrics

import (
	"context"
	"time"

	"memoryd/store"
)

// PutRecord implements store.Records.
func (o *observedStore) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	start := time.Now()
	v, err := o.Store.PutRecord(ctx, r)
	o.done("put_record", start, err)
	return v, err
}

// PutRecords implements store.Records.
func (o *observedStore) PutRecords(ctx context.Context, rs []store.Record) error {
	start := time.Now()
	err := o.Store.PutRecords(ctx, rs)
	o.done("put_records", start, err)
	return err
}

// Record implements store.Records.
func (o *observedStore) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	start := time.Now()
	v, err := o.Store.Record(ctx, key)
	o.done("record", start, err)
	return v, err
}

// ListRecords implements store.Records.
func (o *observedStore) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	start := time.Now()
	v, err := o.Store.ListRecords(ctx, from, limit)
	o.done("list_records", start, err)
	return v, err
}

// DeleteRecord implements store.Records.
func (o *observedStore) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	start := time.Now()
	err := o.Store.DeleteRecord(ctx, key)
	o.done("delete_record", start, err)
	return err
}

// ExpireRecords implements store.Records.
func (o *observedStore) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	start := time.Now()
	v, err := o.Store.ExpireRecords(ctx, now, limit)
	o.done("expire_records", start, err)
	return v, err
}
