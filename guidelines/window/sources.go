package window

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
)

// sourceKind is the kind of the records of a workspace that name who recorded calls in it,
// and askAgain how long it is believed that there was but one: other servers may know of
// more.
const (
	sourceKind = "source"
	askAgain   = time.Minute
)

// sources are who recorded calls in a workspace.
type sources struct {
	written map[string]bool // by their ids; false: not written yet
	asked   time.Time       // when the records were read; zero: never
}

// note takes in who recorded calls.
func (w *Window) note(workspace string, calls []memoryd.Call) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := ""
	for i := range calls {
		id := calls[i].Source()
		if id == last {
			continue
		}
		last = id
		s := w.who[workspace]
		if s == nil {
			s = &sources{written: map[string]bool{}}
			w.who[workspace] = s
		}
		if !s.written[id] {
			s.written[id] = false
			w.unwritten = true
		}
	}
}

func sourceKey(workspace, id string) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: sourceKind, ID: id}
}

// writeSources writes the sources that are new.
func (w *Window) writeSources(ctx context.Context) error {
	w.mu.Lock()
	var keys []store.RecordKey
	for workspace, s := range w.who {
		for id, written := range s.written {
			if w.unwritten && !written {
				keys = append(keys, sourceKey(workspace, id))
			}
		}
	}
	w.unwritten = false
	w.mu.Unlock()
	for _, k := range keys {
		_, err := w.store.PutRecord(ctx, store.Record{RecordKey: k, Revision: store.AnyRevision})
		w.mu.Lock()
		if s := w.who[k.Workspace]; err != nil {
			w.unwritten = true
		} else if s != nil {
			s.written[k.ID] = true
		}
		w.mu.Unlock()
		if err != nil {
			return fmt.Errorf("the sources of %q: %w", k.Workspace, err)
		}
	}
	return nil
}

// Shared implements guidelines.Window: it reports whether several sources recorded calls in a
// workspace.
func (w *Window) Shared(ctx context.Context, workspace string) (bool, error) {
	w.mu.Lock()
	s := w.who[workspace]
	several := s != nil && len(s.written) > 1
	known := several || s != nil && !s.asked.IsZero() && w.now().Sub(s.asked) < askAgain
	w.mu.Unlock()
	if known {
		return several, nil
	}
	records, err := w.store.ListRecords(ctx, sourceKey(workspace, ""), 2)
	if err != nil {
		return false, fmt.Errorf("the sources of %q: %w", workspace, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if s = w.who[workspace]; s == nil {
		s = &sources{written: map[string]bool{}}
		w.who[workspace] = s
	}
	for _, r := range records {
		s.written[r.ID] = true
	}
	s.asked = w.now()
	return len(s.written) > 1, nil
}

// Sourced lists what was observed of a tool's calls: their keys, verdicts and sources. also are ids to know
// beside those that recorded calls in the workspace.
func (w *Window) Sourced(ctx context.Context, ref memoryd.ToolRef, also ...string) ([]memoryd.Call, error) {
	list, err := w.Observations(ctx, ref)
	if err != nil {
		return nil, err
	}
	for r, err := range store.AllRecords(ctx, w.store, sourceKey(ref.Workspace, "")) {
		if err != nil {
			return nil, fmt.Errorf("the sources of %q: %w", ref.Workspace, err)
		}
		also = append(also, r.ID)
	}
	w.mu.Lock()
	if s := w.who[ref.Workspace]; s != nil {
		also = slices.AppendSeq(also, maps.Keys(s.written))
	}
	w.mu.Unlock()
	wrote := map[uint64]json.RawMessage{0: nil}
	for _, id := range also {
		wrote[evidence.SourceOf(id)] = memoryd.WithSource(nil, id)
	}
	calls := make([]memoryd.Call, len(list))
	for i := range list {
		calls[i] = memoryd.Call{ToolRef: ref, Key: list[i].Key, Evaluation: list[i].Evaluation}
		known := false
		if calls[i].Metadata, known = wrote[list[i].Writer]; !known {
			calls[i].Metadata = memoryd.WithSource(nil, "unknown")
		}
	}
	return calls, nil
}

// ForgetSource removes a source from a workspace.
func (w *Window) ForgetSource(ctx context.Context, workspace, id string) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	w.mu.Lock()
	if s := w.who[workspace]; s != nil {
		delete(s.written, id)
	}
	w.mu.Unlock()
	return w.store.DeleteRecord(ctx, sourceKey(workspace, id))
}

// RestoreTool implements store.Tools.
func (s watched) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	err := s.Store.RestoreTool(ctx, t, calls)
	if err == nil {
		s.window.note(t.Workspace, calls)
	}
	return err
}
