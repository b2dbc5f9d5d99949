package revisions

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// pendingKind is the kind of the record of a guideline that came from elsewhere and
// that nobody has released; it has one id.
const (
	pendingKind = "guideline_pending"
	loadedID    = "loaded"
)

// Pending is a statement that is not published: its quorum is not met, a model worded
// it, or it came with a dump that this installation did not write.
type Pending struct {
	// ID stands for the statement in these very words.
	ID string
	// Line is the id of the item, "" for a whole guideline.
	Line string
	// Section is the section of the guideline, "" for a whole guideline. Published is
	// the statement that stands in its place; "" is none.
	Section, Text, Published string
	Author                   string
	// Evidence are the ids of the grounds of the version that is published.
	Evidence []string
}

func pendingID(id, text string) string {
	sum := sha256.Sum256([]byte(text))
	return id + "-" + hex.EncodeToString(sum[:5])
}

// SetAside is the record that keeps a guideline from elsewhere until a person decides.
func SetAside(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error) {
	data, err := json.Marshal(Revision{Content: g.Content, Author: g.Author, Written: g.Written})
	return store.Record{RecordKey: store.RecordKey{ToolRef: ref, Kind: pendingKind, ID: loadedID}, Data: data}, err
}

// loaded is the guideline that was set aside; its Content is "" where there is none.
func (m *Manager) loaded(ctx context.Context, ref memoryd.ToolRef) (e Revision, err error) {
	r, err := m.Store.Record(ctx, store.RecordKey{ToolRef: ref, Kind: pendingKind, ID: loadedID})
	if memoryd.IsKind(err, memoryd.NotFound) {
		return e, nil
	}
	if err == nil {
		err = json.Unmarshal(r.Data, &e)
	}
	return e, err
}

// Pending lists what of a tool's guideline waits for its quorum or for a person.
func (m *Manager) Pending(ctx context.Context, ref memoryd.ToolRef) ([]Pending, error) {
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return nil, err
	}
	cur, err := m.current(ctx, tool)
	if err != nil {
		return nil, err
	}
	var list []Pending
	if cur.Document != nil {
		for _, it := range cur.Document.Items {
			if it.Pending == "" {
				continue
			}
			published := it.Text
			if it.Removed {
				published = ""
			}
			list = append(list, Pending{ID: pendingID(it.ID, it.Pending), Line: it.ID, Section: it.Section, Text: it.Pending, Published: published, Author: it.Author, Evidence: it.Evidence})
		}
	}
	e, err := m.loaded(ctx, ref)
	if err == nil && e.Content != "" {
		list = append(list, Pending{ID: pendingID(loadedID, e.Content), Text: e.Content, Author: e.Author})
	}
	return list, err
}

// Release publishes a pending statement, or, where accept is false, forgets it; by says
// who decided. It is NotFound when nothing of that id is pending: its words may have
// changed. The answer is the version that holds it.
func (m *Manager) Release(ctx context.Context, ref memoryd.ToolRef, id string, accept bool, by string) (Revision, error) {
	list, err := m.Pending(ctx, ref)
	if err != nil {
		return Revision{}, err
	}
	at := slices.IndexFunc(list, func(p Pending) bool { return p.ID == id })
	if at < 0 {
		return Revision{}, memoryd.Errorf(memoryd.NotFound, "no statement of this id is pending")
	}
	tool, err := m.Store.Tool(ctx, ref)
	if err != nil {
		return Revision{}, err
	}
	why := map[bool]string{true: "accepted by ", false: "refused by "}[accept] + by
	if list[at].Section == "" {
		return m.releaseLoaded(ctx, tool, accept, why, by, id)
	}
	p := &list[at]
	err = m.decide(ctx, ref, func(st *Status) {
		st.take(Decided{ID: id, Line: p.Line, Text: p.Text, Published: p.Published, Accept: accept, By: by, At: m.Now()})
	})
	if err != nil {
		return Revision{}, err
	}
	return m.republish(ctx, ref, why, nil)
}

func (m *Manager) releaseLoaded(ctx context.Context, tool memoryd.Tool, accept bool, why, by, id string) (Revision, error) {
	e, err := m.loaded(ctx, tool.ToolRef)
	if err != nil {
		return e, err
	}
	held := e
	if accept {
		e.Why, e.BasedOn, e.ThroughSeq = why, tool.Revision, tool.Lifetime
		if _, err := m.publish(ctx, tool, e); err != nil {
			return e, err
		}
		e.Number = tool.Guideline.Revision + 1
	} else if e, err = m.current(ctx, tool); err != nil {
		return e, err
	}
	err = m.decide(ctx, tool.ToolRef, func(st *Status) {
		st.take(Decided{ID: id, Accept: accept, By: by, At: m.Now(), Loaded: &held})
	})
	if err != nil {
		return e, err
	}
	return e, m.Store.DeleteRecord(ctx, store.RecordKey{ToolRef: tool.ToolRef, Kind: pendingKind, ID: loadedID})
}

// applied is a document with what people decided on its lines and on its pending
// statements.
func (st *Status) applied(d *guidelines.Document) *guidelines.Document {
	out := *d.Unedited()
	out.Items = slices.Clone(out.Items)
	for i := range out.Items {
		it := &out.Items[i]
		if it.Pending == "" {
			continue
		}
		switch id := pendingID(it.ID, it.Pending); {
		case it.Pending == it.Text, slices.Contains(st.Refused, id):
			it.Pending = ""
		case slices.Contains(st.Accepted, id):
			it.Text, it.Pending = it.Pending, ""
		}
	}
	return out.Edited(st.Edits)
}
