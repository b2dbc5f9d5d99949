package ops

import (
	"context"
	"time"

	"memoryd"
	"memoryd/compact"
	"memoryd/store"

	"github.com/go-json-experiment/json/jsontext"
)

// CompactRequest is a request to make a conversation smaller.
type CompactRequest = compact.Request

// Compacted is the compacted conversation with a report.
type Compacted struct{ compact.Result }

// CompactEvent is a progress event of a compaction.
type CompactEvent = compact.Event

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
	// Read returns a page of an original's text. Search finds a text in the input of a compaction.
	Read(ctx context.Context, workspace, id string, offset, limit int) (compact.Page, error)
	Search(ctx context.Context, workspace, id, text string, limit int) ([]compact.Hit, error)
	// Lookup searches the messages that compactions removed from a conversation.
	Lookup(ctx context.Context, workspace string, q compact.Wanted) ([]compact.Hit, error)
	// Undo returns the input of a compaction. UndoIn undoes it in a conversation that has grown
	// since.
	Undo(ctx context.Context, workspace, id string) ([]jsontext.Value, error)
	UndoIn(ctx context.Context, workspace, id string, messages []jsontext.Value) ([]jsontext.Value, error)
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

// GetOriginal requests a message that a compaction removed.
type GetOriginal struct{ Workspace, ID string }

// ReadOriginal requests a page of an original's text; offsets count characters.
type ReadOriginal struct {
	GetOriginal

	Offset, Limit int
}

// originalPage is a page of an original's text.
type originalPage = compact.Page

// SearchOriginals requests the places of a text in the input of a compaction. With a Conversation,
// it requests the messages of that Kind that were removed from it and contain the words.
type SearchOriginals struct {
	GetOriginal

	Conversation string
	Text, Kind   string
	Limit        int
}

// OriginalHits are the places found.
type OriginalHits struct {
	Hits []compact.Hit `json:"hits"`
}

// UndoCompaction requests the input of a compaction. With Messages, it requests that conversation
// as it would be without the compaction.
type UndoCompaction struct {
	GetOriginal

	Messages []jsontext.Value
}

// getOriginal gives the exact bytes of a message.
func (d *Deps) getOriginal(ctx context.Context, r GetOriginal) ([]byte, error) {
	if !compact.ValidID(r.ID) {
		return nil, memoryd.Errorf(memoryd.Invalid, "original: %q is not an id", r.ID)
	}
	kept, err := d.Originals.Get(ctx, r.Workspace, r.ID)
	return kept.Data, err
}

func (d *Deps) readOriginal(ctx context.Context, r ReadOriginal) (originalPage, error) {
	return d.Compactor.Read(ctx, r.Workspace, r.ID, r.Offset, r.Limit)
}

func (d *Deps) searchOriginals(ctx context.Context, r SearchOriginals) (h OriginalHits, err error) {
	if r.Conversation != "" {
		h.Hits, err = d.Compactor.Lookup(ctx, r.Workspace, compact.Wanted{
			Conversation: r.Conversation, Words: r.Text, Kind: r.Kind,
			Limit: r.Limit,
		})
	} else {
		h.Hits, err = d.Compactor.Search(ctx, r.Workspace, r.ID, r.Text, r.Limit)
	}
	return h, err
}

func (d *Deps) undoCompaction(ctx context.Context, r UndoCompaction) ([]jsontext.Value, error) {
	if len(r.Messages) == 0 {
		return d.Compactor.Undo(ctx, r.Workspace, r.ID)
	}
	return d.Compactor.UndoIn(ctx, r.Workspace, r.ID, r.Messages)
}
