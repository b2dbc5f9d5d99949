package revisions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// Revision is one version of a tool's guideline.
type Revision struct {
	Number int64 `json:"revision"` // in place of the guideline's own
	memoryd.Guideline

	// Reasons are why the previous version was stale.
	Reasons []string `json:"reasons,omitempty"`
	// Judges are the versions of the judges behind the calls.
	Judges []string `json:"judges,omitempty"`
	// RolledBackTo is the version whose text is published again, 0 for a text of its own. Why
	// says who rolled back.
	RolledBackTo int64  `json:"rolled_back_to,omitempty"`
	Why          string `json:"why,omitempty"`
	// ByPerson reports that a person changed lines: the version is not compared with the
	// previous one.
	ByPerson bool `json:"by_person,omitempty"`
	// Document is the text as statements with their evidence; nil if the text came from
	// elsewhere.
	Document *guidelines.Document `json:"document,omitempty"`
}

// The kinds of the records of this package.
const (
	revisionKind = "guideline"
	statusKind   = "guideline_standing"
	statusID     = "standing" // as it was stored first
)

// Kinds are the kinds of the records that this package stores with tools.
func Kinds() []string { return []string{revisionKind, statusKind, pendingKind} }

func revisionKey(ref memoryd.ToolRef, revision int64) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: revisionKind, ID: fmt.Sprintf("%012d", revision)}
}

// put keeps a version and lets the oldest go.
func (m *Manager) put(ctx context.Context, ref memoryd.ToolRef, r Revision) error {
	if err := store.WriteJSON(ctx, m.Store, store.Record{RecordKey: revisionKey(ref, r.Number), Revision: store.AnyRevision},
		r); err != nil {
		return err
	}
	return m.prune(ctx, ref, r.Number-int64(m.Config.Versions))
}

// prune deletes the versions up to a number, the oldest first. What it leaves
// because of an error goes with the next version that is written.
func (m *Manager) prune(ctx context.Context, ref memoryd.ToolRef, last int64) error {
	for last > 0 {
		oldest, err := m.Store.ListRecords(ctx, revisionKey(ref, 0), 1)
		if err != nil || len(oldest) == 0 || oldest[0].ID > revisionKey(ref, last).ID {
			return err
		}
		if err := m.Store.DeleteRecord(ctx, oldest[0].RecordKey); err != nil {
			return err
		}
	}
	return nil
}

// current is the tool's present version, or what is known of it without its
// record.
func (m *Manager) current(ctx context.Context, tool memoryd.Tool) (Revision, error) {
	g := tool.Guideline
	if g.Revision == 0 {
		return Revision{}, nil
	}
	e, err := m.Revision(ctx, tool.ToolRef, g.Revision)
	if memoryd.IsKind(err, memoryd.NotFound) || err == nil && e.Content != g.Content {
		return Revision{Number: g.Revision, Guideline: g}, nil
	}
	return e, err
}

// read returns a tool and its present version.
func (m *Manager) read(ctx context.Context, ref memoryd.ToolRef) (tool memoryd.Tool, e Revision, err error) {
	if tool, err = m.Store.Tool(ctx, ref); err == nil {
		e, err = m.current(ctx, tool)
	}
	return tool, e, err
}

// Revision returns one version, or NotFound.
func (m *Manager) Revision(ctx context.Context, ref memoryd.ToolRef, revision int64) (e Revision, err error) {
	written, err := store.ReadJSON(ctx, m.Store, revisionKey(ref, revision), &e)
	if err == nil && written == 0 {
		err = memoryd.Errorf(memoryd.NotFound, "there is no version %d of the guideline", revision)
	}
	return e, err
}

// List returns the stored versions of a tool, newest first.
func (m *Manager) List(ctx context.Context, ref memoryd.ToolRef) ([]Revision, error) {
	tool, cur, err := m.read(ctx, ref)
	if err != nil {
		return nil, err
	}
	var all []Revision
	for r, err := range store.AllRecords(ctx, m.Store, revisionKey(ref, 0)) {
		if err != nil {
			return nil, err
		}
		var e Revision
		if err := json.Unmarshal(r.Data, &e); err != nil {
			return nil, fmt.Errorf("version %s: %w", r.ID, err)
		}
		all = append(all, e)
	}
	slices.Reverse(all)
	if g := tool.Guideline; g.Revision > 0 && (len(all) == 0 || all[0].Number < g.Revision) {
		all = append([]Revision{cur}, all...)
	}
	return all, nil
}

// Status is what people and outcomes decided about a tool's guideline.
type Status struct {
	// Pinned is the version that must stay; 0 means none.
	Pinned int64 `json:"pinned,omitempty"`
	// Rejected are the fingerprints of documents that did worse than the version before them.
	Rejected []string `json:"rejected,omitempty"`
	// Edits are people's edits of lines, oldest first.
	Edits []guidelines.Edit `json:"edits,omitempty"`
}

// maxRejected bounds what is remembered of bad versions.
const maxRejected = 20

func statusKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: statusKind, ID: statusID}
}

func (m *Manager) status(ctx context.Context, ref memoryd.ToolRef) (st Status, revision int64, err error) {
	revision, err = store.ReadJSON(ctx, m.Store, statusKey(ref), &st)
	return st, revision, err
}

// decide changes the status, again if somebody else did in between.
func (m *Manager) decide(ctx context.Context, ref memoryd.ToolRef, change func(*Status)) error {
	for {
		st, revision, err := m.status(ctx, ref)
		if err != nil {
			return err
		}
		change(&st)
		st.Rejected = st.Rejected[max(0, len(st.Rejected)-maxRejected):]
		err = store.WriteJSON(ctx, m.Store, store.Record{RecordKey: statusKey(ref), Revision: revision}, st)
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
	}
}
