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

// sourceKind is the kind of the records of a workspace that name who recorded calls in it.
const sourceKind = "source"

// askAgain is how long after the store was asked for the sources of a workspace it is asked again:
// others come only from other servers.
const askAgain = time.Second

// sources are those of a workspace.
type sources struct {
	written map[string]bool // by id; false: not written
	asked   time.Time       // when the store was asked for others last
}

// note takes in who recorded calls, and writes those that are new.
func (w *Window) note(ctx context.Context, workspace string, calls []memoryd.Call) {
	w.mu.Lock()
	s := w.sourcesOf(workspace)
	var unwritten []string
	last := ""
	for i := range calls {
		id := calls[i].Source()
		if id != last && !s.written[id] {
			s.written[id] = false
			unwritten = append(unwritten, id)
		}
		last = id
	}
	w.mu.Unlock()
	for _, id := range unwritten {
		if _, err := w.store.PutRecord(ctx, store.Record{RecordKey: sourceKey(workspace, id), Revision: store.AnyRevision}); err != nil {
			w.log.WarnContext(ctx, "cannot write who recorded calls; the next call of this source tries again", "workspace", workspace, "err", err)
			return
		}
		w.mu.Lock()
		s.written[id] = true
		w.mu.Unlock()
	}
}

// sourcesOf are those of a workspace. The lock is held.
func (w *Window) sourcesOf(workspace string) *sources {
	if w.who[workspace] == nil {
		w.who[workspace] = &sources{written: map[string]bool{}}
	}
	return w.who[workspace]
}

func sourceKey(workspace, id string) store.RecordKey {
	return store.RecordKey{ToolRef: memoryd.ToolRef{Workspace: workspace}, Kind: sourceKind, ID: id}
}

// Shared implements evidence.Window: it reports whether several sources recorded calls in a
// workspace. While this server knows of one, it asks the store now and then: other servers may know
// of more.
func (w *Window) Shared(ctx context.Context, workspace string) (bool, error) {
	w.mu.Lock()
	s := w.sourcesOf(workspace)
	several, fresh := len(s.written) > 1, w.now().Sub(s.asked) < askAgain
	w.mu.Unlock()
	if several || fresh {
		return several, nil
	}
	records, err := w.store.ListRecords(ctx, sourceKey(workspace, ""), 2)
	if err != nil {
		return false, fmt.Errorf("the sources of %q: %w", workspace, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.asked = w.now()
	for _, r := range records {
		s.written[r.ID] = true
	}
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
	also = slices.AppendSeq(also, maps.Keys(w.sourcesOf(ref.Workspace).written))
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
	delete(w.sourcesOf(workspace).written, id)
	w.mu.Unlock()
	return w.store.DeleteRecord(ctx, sourceKey(workspace, id))
}

// RestoreTool implements store.Tools.
func (s watched) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	err := s.Store.RestoreTool(ctx, t, calls)
	if err == nil {
		s.window.note(ctx, t.Workspace, calls)
		s.window.worlds.Remove(t.Workspace) // it is read anew, with these
	}
	return err
}
