package mem

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
	"memoryd/store"
)

// PutRecord implements store.Records.
func (s *backend) PutRecord(ctx context.Context, r store.Record) (int64, error) {
	if r.Tool != "" && s.find(r.ToolRef) == nil {
		return 0, store.UnknownTool()
	}
	old := s.records[r.RecordKey].Revision
	if r.Revision != store.AnyRevision && r.Revision != old {
		return 0, store.Replaced("record")
	}
	s.putRecord(r)
	return old + 1, nil
}

func (s *backend) putRecord(r store.Record) {
	r.Revision = s.records[r.RecordKey].Revision + 1
	r.Data = slices.Clone(r.Data)
	s.records[r.RecordKey] = r
}

// PutRecords implements store.Records.
func (s *backend) PutRecords(ctx context.Context, rs []store.Record) error {
	for i := range rs {
		if rs[i].Tool != "" && s.find(rs[i].ToolRef) == nil {
			return store.UnknownTool()
		}
	}
	for _, r := range rs {
		s.putRecord(r)
	}
	return nil
}

// Record implements store.Records.
func (s *backend) Record(ctx context.Context, key store.RecordKey) (store.Record, error) {
	r, ok := s.records[key]
	if !ok {
		return r, store.UnknownRecord()
	}
	r.Data = slices.Clone(r.Data)
	return r, nil
}

// ListRecords implements store.Records.
func (s *backend) ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error) {
	var found []store.Record
	for k, r := range s.records {
		if k.ToolRef == from.ToolRef && k.Kind == from.Kind && k.ID > from.ID {
			found = append(found, r)
		}
	}
	slices.SortFunc(found, func(a, b store.Record) int { return strings.Compare(a.ID, b.ID) })
	var out []store.Record
	size := 0
	for _, r := range found[:min(limit, len(found))] {
		if size += len(r.Data); size > store.MaxRecordBytes && len(out) > 0 {
			break
		}
		r.Data = slices.Clone(r.Data)
		out = append(out, r)
	}
	return out, nil
}

// RecordsSize implements store.Records.
func (s *backend) RecordsSize(ctx context.Context, of store.RecordKey) (size store.Size, err error) {
	for k, r := range s.records {
		if k.ToolRef == of.ToolRef && k.Kind == of.Kind {
			size.Add(store.Size{Count: 1, Bytes: int64(len(r.Data))})
		}
	}
	return size, nil
}

// DeleteRecord implements store.Records.
func (s *backend) DeleteRecord(ctx context.Context, key store.RecordKey) error {
	delete(s.records, key)
	return nil
}

// ExpireRecords implements store.Records.
func (s *backend) ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error) {
	n := 0
	for k, r := range s.records {
		if n < limit && !r.Expires.IsZero() && !r.Expires.After(now) {
			delete(s.records, k)
			n++
		}
	}
	return n, nil
}

// deleteRecords removes the records of a tool, or with an empty tool all of the
// workspace.
func (s *backend) deleteRecords(ref memoryd.ToolRef) {
	maps.DeleteFunc(s.records, func(k store.RecordKey, _ store.Record) bool {
		return ref.Workspace != "" && k.Workspace == ref.Workspace && (ref.Tool == "" || k.Tool == ref.Tool)
	})
}
