package journal

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// Records are the remote store's alone: they are compared and replaced, and what
// one process knew of them would soon be wrong. While it is away all of these
// methods fail as unavailable.

// PutRecord implements store.Records.
func (s *backend) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	return firmly(ctx, s, func(ctx context.Context) (int64, error) { return s.remote.PutRecord(ctx, r) })
}

// PutRecords implements store.Records.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.remote.PutRecords(ctx, rs)
	})
	return err
}

// Record implements store.Records. The record of a tool or workspace whose
// deletion waits is not found.
func (s *backend) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	if s.q.waitingFor(key.ToolRef).gone {
		return store.Record{}, memoryd.Errorf(memoryd.NotFound, "there is no such record")
	}
	r, ok, err := ask(ctx, s, func(ctx context.Context) (store.Record, error) { return s.remote.Record(ctx, key) })
	if err == nil && !ok {
		err = s.unavailable(nil)
	}
	return r, err
}

// ListRecords implements store.Records, likewise.
func (s *backend) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	if s.q.waitingFor(from.ToolRef).gone {
		return nil, nil
	}
	rs, ok, err := ask(ctx, s, func(ctx context.Context) ([]store.Record, error) {
		return s.remote.ListRecords(ctx, from, limit)
	})
	if err == nil && !ok {
		err = s.unavailable(nil)
	}
	return rs, err
}

// DeleteRecord implements store.Records.
func (s *backend) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.remote.DeleteRecord(ctx, key)
	})
	return err
}

// ExpireRecords implements store.Records.
func (s *backend) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	return firmly(ctx, s, func(ctx context.Context) (int, error) { return s.remote.ExpireRecords(ctx, now, limit) })
}
