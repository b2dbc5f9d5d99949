package store

import (
	"context"
	"encoding/json"
	"time"

	"memoryd"
)

// MaxRecordBytes limits the data of a record.
const MaxRecordBytes = 16 << 20

// AnyRevision as the revision of a record replaces whatever is stored.
const AnyRevision = -1

// RecordKey identifies a record. The workspace is empty for records of the whole server, the tool
// for those of a whole workspace. Kind names the owner ("guideline", "original"): 1 to 32
// lower-case letters, digits and underscores. ID is any name. The JSON names are those of exports.
type RecordKey struct {
	memoryd.ToolRef
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// Record is a small durable document stored beside the tool memories.
type Record struct {
	RecordKey
	// Revision counts the writes of the record, from 1.
	Revision int64 `json:"-"`
	// Expires is when the record may be removed, in microseconds; zero means never.
	Expires time.Time `json:"expires,omitzero"`
	Data    []byte    `json:"data"`
}

// Records stores documents of the program itself. They are deleted with their tool or workspace.
type Records interface {
	// PutRecord writes r if the stored revision is r.Revision, and returns the new one, which is
	// higher by 1. A revision of 0 means that there is no record; AnyRevision matches all.
	// Otherwise it returns Conflict, or NotFound if the tool of r does not exist.
	PutRecord(ctx context.Context, r Record) (int64, error)

	// PutRecords writes all records without a check of their Revision. They belong to one
	// workspace, and to no unknown tool.
	PutRecords(ctx context.Context, rs []Record) error

	// Record returns a record, or NotFound. An expired record may still be returned.
	Record(ctx context.Context, key RecordKey) (Record, error)

	// ListRecords returns up to limit records with the workspace, tool and kind of from and ids
	// greater than from.ID, in byte order. It returns fewer if their data would exceed
	// MaxRecordBytes, but at least one if there is one.
	ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error)

	// RecordsSize returns the size of all records with the given workspace, tool and kind, without
	// reading their data. It ignores the id.
	RecordsSize(ctx context.Context, of RecordKey) (Size, error)

	// DeleteRecord deletes a record. A missing record is not an error.
	DeleteRecord(ctx context.Context, key RecordKey) error

	// ExpireRecords removes up to limit records that expire at or before now, and returns their
	// number.
	ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error)
}

// ReadJSON decodes a record into v and returns its revision; 0 means that there is none.
func ReadJSON(ctx context.Context, s Records, key RecordKey, v any) (revision int64, err error) {
	r, err := s.Record(ctx, key)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return 0, nil
	}
	if err == nil {
		err = json.Unmarshal(r.Data, v)
	}
	return r.Revision, err
}

// WriteJSON writes v as the data of r; see PutRecord.
func WriteJSON(ctx context.Context, s Records, r Record, v any) (err error) {
	if r.Data, err = json.Marshal(v); err == nil {
		_, err = s.PutRecord(ctx, r)
	}
	return err
}
