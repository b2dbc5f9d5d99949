package kinds

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/internal/reading"
	"memoryd/store"
)

// Records is the part of a store that holds labels.
type Records interface {
	Record(ctx context.Context, key store.RecordKey) (store.Record, error)
	PutRecord(ctx context.Context, r store.Record) (int64, error)
	ListRecords(ctx context.Context, from store.RecordKey, limit int) ([]store.Record, error)
	DeleteRecord(ctx context.Context, key store.RecordKey) error
}

// mostKinds is how many labelled kinds of a tool are read.
const mostKinds = 10_000

// Read returns what is known about a tool's kinds.
func Read(ctx context.Context, s Records, ref memoryd.ToolRef) (*Book, error) {
	b := &Book{}
	from := store.RecordKey{ToolRef: ref, Kind: RecordKind}
	for len(b.byKind) < mostKinds {
		rs, err := s.ListRecords(ctx, from, 500)
		if err != nil || len(rs) == 0 {
			return b, err
		}
		for _, r := range rs {
			from.ID = r.ID
			id, named := reading.ParseID(r.ID)
			if labels, err := decode(r.Data); err == nil && named {
				b.Put(id, labels)
			}
		}
	}
	return b, nil
}

// Forget removes what was learned from verdicts on calls of a source.
func Forget(ctx context.Context, s Records, ref memoryd.ToolRef, source string) error {
	b, err := Read(ctx, s, ref)
	if err != nil {
		return err
	}
	of := func(l Label) bool { return l.Source == source && !l.ByPerson() }
	for id, labels := range b.byKind {
		if !slices.ContainsFunc(labels, of) {
			continue
		}
		key := store.RecordKey{ToolRef: ref, Kind: RecordKind, ID: id.String()}
		if _, err := Write(ctx, s, key, func(old []Label) []Label { return slices.DeleteFunc(old, of) }); err != nil {
			return err
		}
	}
	return nil
}

// Write changes the labels of a kind and returns them. It fails with Conflict if they were
// changed in the meantime.
func Write(ctx context.Context, s Records, key store.RecordKey, change func([]Label) []Label) ([]Label, error) {
	r, err := s.Record(ctx, key)
	var labels []Label
	switch {
	case err == nil:
		if labels, err = decode(r.Data); err != nil {
			labels = nil // what cannot be read is written anew
		}
	case !memoryd.IsKind(err, memoryd.NotFound):
		return nil, err
	}
	labels = change(labels)
	if len(labels) == 0 {
		return nil, s.DeleteRecord(ctx, key)
	}
	r.RecordKey = key
	if r.Data, err = encode(labels); err != nil {
		return nil, err
	}
	_, err = s.PutRecord(ctx, r)
	return labels, err
}
