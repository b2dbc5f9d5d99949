package ops

import (
	"context"
	"time"

	"memoryd"
	"memoryd/compact"
	"memoryd/store"

	"github.com/go-json-experiment/json/jsontext"
)

// What is asked about compactions.
type (
	// CompactRequest is a request to make a conversation smaller.
	CompactRequest = compact.Request
	// CompactEvent is a progress event of a compaction.
	CompactEvent = compact.Event
	// GetOriginal requests the exact bytes of a message that a compaction removed.
	GetOriginal = compact.OriginalRef
	// ReadOriginal requests a page of its text.
	ReadOriginal = compact.PageRequest
	// SearchOriginals requests the places of words.
	SearchOriginals = compact.Wanted
	// OriginalHits are the places found.
	OriginalHits = compact.OriginalHits
	// UndoCompaction requests the input of a compaction.
	UndoCompaction = compact.UndoRequest
)

// Compacted is the compacted conversation with a report.
type Compacted struct{ compact.Result }

// JoinOverrides moves members of a request that are named like settings of its profile to the
// overrides.
func JoinOverrides(profile string, overrides, members jsontext.Value) (jsontext.Value, error) {
	return compact.JoinOverrides(profile, overrides, members)
}

// CompactParams are the settings of compact_conversation_op: it has none of its own.
type CompactParams struct{}

// Compactor compacts conversations and returns what it removed.
type Compactor interface {
	Compact(ctx context.Context, r compact.Request) (compact.Result, error)
	Original(ctx context.Context, r compact.OriginalRef) (compact.Original, error)
	Read(ctx context.Context, r compact.PageRequest) (compact.Page, error)
	Search(ctx context.Context, q compact.Wanted) (compact.OriginalHits, error)
	Undo(ctx context.Context, r compact.UndoRequest) ([]jsontext.Value, error)
}

func (d *Deps) compact(ctx context.Context, r CompactRequest) (*Compacted, error) {
	res, err := d.Compactor.Compact(ctx, r)
	return &Compacted{res}, err
}

// OriginalKind is the record kind of originals.
const OriginalKind = "original"

// Originals stores what compaction removes.
type Originals struct {
	Records store.Records
	Keep    time.Duration // how long; 0 means permanently
	Now     func() time.Time
}

func originalKey(workspace, id string) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: OriginalKind, ID: id}
}

// Put implements compact.Originals.
func (o Originals) Put(ctx context.Context, workspace string, items []compact.Original) error {
	records := make([]store.Record, len(items))
	for i, item := range items {
		records[i] = store.Record{RecordKey: originalKey(workspace, item.ID), Data: item.Data}
		if o.Keep > 0 {
			records[i].Expires = o.Now().Add(o.Keep)
		}
	}
	return o.Records.PutRecords(ctx, records)
}

// Get implements compact.Originals.
func (o Originals) Get(ctx context.Context, workspace, id string) (compact.Original, error) {
	r, err := o.Records.Record(ctx, originalKey(workspace, id))
	return compact.Original{ID: id, Data: r.Data}, err
}
