package store

import (
	"context"
	"time"

	"memoryd"
)

// MaxRecordBytes is how long the data of a record may be.
const MaxRecordBytes = 16 << 20

// AnyRevision is the revision of a record to be put that replaces whatever is there.
const AnyRevision = -1

// RecordKey addresses a record. The workspace is empty for records of the whole
// server, the tool for those of a whole workspace. Kind says who the record
// belongs to ("guideline", "original"): a word of lower-case letters, digits and
// underscores, 1 to 32 bytes. ID is any name.
type RecordKey struct {
	memoryd.ToolRef
	Kind string
	ID   string
}

// Record is a small durable document beside the tool memories.
type Record struct {
	RecordKey
	// Revision counts the writes of the record from 1.
	Revision int64
	// Expires is when the record may be removed; zero means never. Microseconds
	// are kept.
	Expires time.Time
	Data    []byte
}

// Records keeps documents of the program's own making. They leave with their
// tool or workspace.
type Records interface {
	// PutRecord writes r if the revision of what is stored is r.Revision (0: there
	// is none; AnyRevision: no matter) and returns the new revision, which is one
	// more. Otherwise it fails with Conflict, and with NotFound when r names a
	// tool that does not exist.
	PutRecord(ctx context.Context, r Record) (int64, error)

	// PutRecords writes all of them, whatever is there; their Revision is not
	// looked at. All belong to one workspace, and to no tool that is unknown.
	PutRecords(ctx context.Context, rs []Record) error

	// Record returns one record, or NotFound. One that has expired may or may not
	// be there still.
	Record(ctx context.Context, key RecordKey) (Record, error)

	// ListRecords returns up to limit records of from's workspace, tool and kind
	// whose id is greater than from.ID, in byte order of the ids. It returns fewer
	// when they would hold more than MaxRecordBytes of data together, but at least
	// one if there is one.
	ListRecords(ctx context.Context, from RecordKey, limit int) ([]Record, error)

	// RecordsSize tells the size of all records of of's workspace, tool and kind
	// without reading their data. The id is not looked at.
	RecordsSize(ctx context.Context, of RecordKey) (Size, error)

	// DeleteRecord removes a record; one that is not there is no error.
	DeleteRecord(ctx context.Context, key RecordKey) error

	// ExpireRecords removes up to limit records that expired at now or before and
	// reports how many.
	ExpireRecords(ctx context.Context, now time.Time, limit int) (int, error)
}
