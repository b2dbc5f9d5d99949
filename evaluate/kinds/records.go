package kinds

import (
	"context"
	"encoding/json"
	"slices"

	"memoryd"
	"memoryd/internal/reading"
	"memoryd/store"
)

// Records is the part of a store that holds labels.
type Records = store.Records

// mostKinds is how many labelled kinds of a tool are read.
const mostKinds = 10_000

// Read returns what is known about a tool's kinds.
func Read(ctx context.Context, s Records, ref memoryd.ToolRef) (*Book, error) {
	b := &Book{}
	for r, err := range store.AllRecords(ctx, s, store.RecordKey{ToolRef: ref, Kind: RecordKind}) {
		if err != nil || len(b.byKind) == mostKinds {
			return b, err
		}
		var labels []Label
		if id, named := reading.ParseID(r.ID); named && json.Unmarshal(r.Data, &labels) == nil {
			b.Put(id, labels)
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
	var labels []Label
	revision, err := store.ReadJSON(ctx, s, key, &labels)
	if err != nil {
		return nil, err
	}
	if labels = change(labels); len(labels) == 0 {
		return nil, s.DeleteRecord(ctx, key)
	}
	return labels, store.WriteJSON(ctx, s, store.Record{RecordKey: key, Revision: revision}, labels)
}
