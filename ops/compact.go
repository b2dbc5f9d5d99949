package ops

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"memoryd"
	"memoryd/compact"
	"memoryd/internal/lifecycle"
	"memoryd/store"

	"github.com/go-json-experiment/json/jsontext"
)

// CompactRequest asks to make a conversation smaller.
type CompactRequest = compact.Request

// Compacted is the conversation, with a report on what became of it.
type Compacted struct{ compact.Result }

// CompactReport is what a compaction tells of itself at its end.
type CompactReport = compact.Report

// CompactEvent is what a compaction tells of itself on the way.
type CompactEvent = compact.Event

// JoinOverrides adds to a request's overrides those further members of the request
// whose names are settings of its profile.
func JoinOverrides(profile string, overrides, members jsontext.Value) (jsontext.Value, error) {
	return compact.JoinOverrides(profile, overrides, members)
}

// Followed is a compaction that runs beside its caller, however slowly that reads.
type Followed struct {
	feed *compact.Feed
	done <-chan error
	out  *Compacted
}

// Follow starts a compaction, which ends with ctx.
func Follow(ctx context.Context, log *slog.Logger, flow *Flow[CompactRequest, *Compacted], r CompactRequest) *Followed {
	f := &Followed{feed: compact.NewFeed()}
	r.Progress = f.feed.Push
	f.done = lifecycle.Go(ctx, log, "compaction", func() (err error) {
		defer f.feed.Push(CompactEvent{Type: "error"}) // a run that was refused, or panicked, has said nothing
		f.out, err = flow.Run(ctx, r)
		return err
	})
	return f
}

// Next waits for the next step; the type of the last is "result" or "error".
func (f *Followed) Next(ctx context.Context) (CompactEvent, error) { return f.feed.Next(ctx) }

// Result waits for the end. It is called once.
func (f *Followed) Result() (*Compacted, error) {
	err := <-f.done
	return f.out, err
}

// CompactParams are the settings of compact_conversation_op.
type CompactParams struct {
	// CompactSleepInterval is the time in seconds between the starts of model
	// requests; 0 means no spacing.
	CompactSleepInterval float64 `yaml:"compact_sleep_interval"`
}

// Validate names the setting that is wrong.
func (p CompactParams) Validate() error {
	if !(p.CompactSleepInterval >= 0) {
		return fmt.Errorf("compact_sleep_interval: must be 0 or more (seconds), got %v", p.CompactSleepInterval)
	}
	return nil
}

// Compactor makes conversations smaller and gives back what it removed.
type Compactor interface {
	Compact(ctx context.Context, r compact.Request) (compact.Result, error)
	// Read gives a page of the text of an original, Search the places where a text
	// stands in the input of a compaction.
	Read(ctx context.Context, workspace, id string, offset, limit int) (compact.Page, error)
	Search(ctx context.Context, workspace, id, text string, limit int) ([]compact.Hit, error)
	// Lookup finds what compactions removed from a conversation.
	Lookup(ctx context.Context, workspace string, q compact.Wanted) ([]compact.Hit, error)
	// Undo gives the input of a compaction back; UndoIn takes the compaction out of
	// a conversation that went on.
	Undo(ctx context.Context, workspace, id string) ([]jsontext.Value, error)
	UndoIn(ctx context.Context, workspace, id string, messages []jsontext.Value) ([]jsontext.Value, error)
}

func (library) CompactConversation() Definition {
	return defineWith("compact_conversation_op", func(d Deps, _ CompactParams) func(context.Context, CompactRequest) (*Compacted, error) {
		return func(ctx context.Context, r CompactRequest) (*Compacted, error) {
			res, err := d.Compactor.Compact(ctx, r)
			return &Compacted{res}, err
		}
	}).withModel()
}

// OriginalKind is the kind of the records of Originals.
const OriginalKind = "original"

// Originals keeps what compaction removes in a store.
type Originals struct {
	Records store.Records
	Keep    time.Duration // how long; 0: for ever
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

// GetOriginal asks for what a compaction removed.
type GetOriginal struct{ Workspace, ID string }

// Original is the exact bytes of a message.
type Original struct{ Data []byte }

// ReadOriginal asks for a page of the text of an original, in characters.
type ReadOriginal struct {
	GetOriginal

	Offset, Limit int
}

// OriginalPage is a part of an original's text.
type OriginalPage struct{ compact.Page }

// SearchOriginals asks where a text stands in the input of a compaction; with a
// Conversation, which of all the messages that were removed from it hold the words, in
// what is of the Kind.
type SearchOriginals struct {
	GetOriginal

	Conversation string
	Text, Kind   string
	Limit        int
}

// OriginalHits are the places.
type OriginalHits struct{ Hits []compact.Hit }

// UndoCompaction asks for the input of a compaction; with the Messages of the
// conversation that went on, for that conversation without the compaction.
type UndoCompaction struct {
	GetOriginal

	Messages []jsontext.Value
}

// Conversation is a list of messages.
type Conversation struct{ Messages []jsontext.Value }

func (library) GetOriginal() Definition {
	return define("get_original_op", func(d Deps, ctx context.Context, r GetOriginal) (o Original, err error) {
		if !compact.ValidID(r.ID) {
			return o, memoryd.Errorf(memoryd.Invalid, "original: %q is not the id of one", r.ID)
		}
		kept, err := d.Originals.Get(ctx, r.Workspace, r.ID)
		return Original{kept.Data}, err
	})
}

func (library) ReadOriginal() Definition {
	return define("read_original_op", func(d Deps, ctx context.Context, r ReadOriginal) (p OriginalPage, err error) {
		p.Page, err = d.Compactor.Read(ctx, r.Workspace, r.ID, r.Offset, r.Limit)
		return p, err
	})
}

func (library) SearchOriginals() Definition {
	return define("search_originals_op", func(d Deps, ctx context.Context, r SearchOriginals) (h OriginalHits, err error) {
		if r.Conversation != "" {
			h.Hits, err = d.Compactor.Lookup(ctx, r.Workspace, compact.Wanted{Conversation: r.Conversation, Words: r.Text, Kind: r.Kind, Limit: r.Limit})
		} else {
			h.Hits, err = d.Compactor.Search(ctx, r.Workspace, r.ID, r.Text, r.Limit)
		}
		return h, err
	})
}

func (library) UndoCompaction() Definition {
	return define("undo_compaction_op", func(d Deps, ctx context.Context, r UndoCompaction) (c Conversation, err error) {
		if len(r.Messages) == 0 {
			c.Messages, err = d.Compactor.Undo(ctx, r.Workspace, r.ID)
		} else {
			c.Messages, err = d.Compactor.UndoIn(ctx, r.Workspace, r.ID, r.Messages)
		}
		return c, err
	})
}
