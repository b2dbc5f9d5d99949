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
func (s *Store) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if err := store.CheckRecord(&r); err != nil {
		return 0, err
	}
	return firmly(ctx, s, func(ctx context.Context) (int64, error) { return s.remote.PutRecord(ctx, r) })
}

// PutRecords implements store.Records.
func (s *Store) PutRecords(ctx context.Context, rs []store.Record) error {
	if err := store.CheckRecords(rs); err != nil {
		return err
	}
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.remote.PutRecords(ctx, rs)
	})
	return err
}

// Record implements store.Records. The record of a tool or workspace whose
// deletion waits is not found.
func (s *Store) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	if err := store.CheckRecordKey(key); err != nil {
		return store.Record{}, err
	}
	if err := s.enter(ctx); err != nil {
		return store.Record{}, err
	}
	defer s.leave()
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
func (s *Store) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	if err := store.CheckRecordRange(from, limit); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
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
func (s *Store) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	if err := store.CheckRecordKey(key); err != nil {
		return err
	}
	_, err := firmly(ctx, s, func(ctx context.Context) (none struct{}, err error) {
		return none, s.remote.DeleteRecord(ctx, key)
	})
	return err
}

// ExpireRecords implements store.Records.
func (s *Store) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	if err := store.CheckLimit(limit); err != nil {
		return 0, err
	}
	return firmly(ctx, s, func(ctx context.Context) (int, error) { return s.remote.ExpireRecords(ctx, now, limit) })
}
