// Package revisions manages the guidelines of a store. It updates stale guidelines, and keeps
// their versions with the evidence for each. It counts the outcomes of calls whose agents saw
// a version, rolls back versions that made things worse, and lets people pin a version or
// return to an earlier one.
//
// A version is a record of the tool (kind "guideline"), written right after the
// compare-and-set that made it the tool's guideline. If the process dies between the two
// writes, the version is missing in the list, and everything else works.
package revisions

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/store"
)

// Composer writes guidelines.
type Composer interface {
	// Compose writes the guideline of a tool from its stored calls, oldest first. The newest
	// recent of them are the recent window. prev is the previous version, or nil.
	Compose(ctx context.Context, tool memoryd.Tool, calls []memoryd.Call, recent int, prev *guidelines.Document) (*guidelines.Document, error)
}

// Store is the part of a store.Store that a Manager uses.
type Store interface {
	store.Calls
	store.Tools
	store.Records
}

// Manager manages guidelines. It is safe for concurrent use, also by several processes on one
// store.
type Manager struct {
	Store    Store
	Composer Composer
	// Recent is the size of the recent window.
	Recent int
	Config Config
	Now    func() time.Time
	// Sourced lists what was observed of a tool's calls, beyond its history: their keys, verdicts and
	// sources. also are ids of sources to know beside those of the workspace. nil means there are none.
	Sourced func(ctx context.Context, ref memoryd.ToolRef, also ...string) ([]memoryd.Call, error)
}

// Config is when guidelines are updated and how many versions are kept.
type Config struct {
	Staleness `yaml:",inline"`
	// Versions is the number of versions kept per tool.
	Versions int `yaml:"versions"`
	// Interval is the time between two passes of the background refresh; 0 turns it off.
	// PerRound limits the guidelines written in one pass.
	Interval time.Duration `yaml:"interval"`
	PerRound int           `yaml:"-"`
	// UntoldShare is the share of runs that get no advice, for comparison; 0 gives advice to
	// all.
	UntoldShare float64 `yaml:"untold_share"`
}

// UnmarshalYAML decodes a section and keeps constants that are not settings: a guideline is
// written again after a month if there are new calls, at most one in twenty may ever be
// called stale by chance, and a pass of 200 leaves the model free for others.
func (c *Config) UnmarshalYAML(unmarshal func(any) error) error {
	type settings Config
	c.MaxAge, c.FalseAlarms, c.PerRound = 30*24*time.Hour, 0.05, 200
	return unmarshal((*settings)(c))
}

// Validate returns the first invalid setting.
func (c Config) Validate() error {
	switch {
	case c.Versions < 2:
		return fmt.Errorf("versions: must be at least 2, got %d", c.Versions)
	case c.Interval != 0 && c.Interval < time.Second:
		return fmt.Errorf("interval: must be 0 (off) or at least 1s, got %v", c.Interval)
	case !(c.UntoldShare >= 0 && c.UntoldShare < 1):
		return fmt.Errorf("untold_share: must be 0 or more and below 1, got %v", c.UntoldShare)
	}
	return c.Staleness.Validate()
}

// Show returns the guideline to show. With maxTokens above 0, it has the most valuable
// statements that fit; otherwise the whole text.
func (m *Manager) Show(ctx context.Context, tool memoryd.Tool, maxTokens int) (memoryd.Guideline, error) {
	g := tool.Guideline
	if g.Revision == 0 || maxTokens <= 0 {
		return g, nil
	}
	e, err := m.current(ctx, tool)
	if err != nil {
		return g, err
	}
	shown := e.guideline()
	shown.Revision = e.Number
	if e.Document != nil {
		shown.Content = e.Document.Within(maxTokens)
	}
	return shown, nil
}

// Untold reports whether a run gets no advice, for comparison. The answer is always the same
// for a run, and false for agents that name no run.
func (m *Manager) Untold(workspace, run string) bool {
	if run == "" || m.Config.UntoldShare <= 0 {
		return false
	}
	sum := sha256.Sum256([]byte("untold\x00" + workspace + "\x00" + run))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < m.Config.UntoldShare
}

// pendingKind is the kind of the record of a guideline that came from elsewhere and
// that nobody has released; it has one id.
const (
	pendingKind = "guideline_pending"
	loadedID    = "loaded"
)

// Pending is an unpublished statement: its quorum is not reached, a model wrote it, or it
// came with a dump from another installation.
type Pending struct {
	// ID identifies the statement with its exact wording.
	ID string
	// Line is the id of the item; "" for a whole guideline.
	Line string
	// Section is the section of the guideline, "" for a whole guideline. Published is the
	// published statement in its place; "" if none.
	Section, Text, Published string
	Author                   string
	// Evidence lists the ids of the grounds in the published version.
	Evidence []string
}

func pendingID(id, text string) string {
	sum := sha256.Sum256([]byte(text))
	return id + "-" + hex.EncodeToString(sum[:5])
}

// SetAside returns the record that keeps a guideline from elsewhere until a person decides.
func SetAside(ref memoryd.ToolRef, g memoryd.Guideline) (store.Record, error) {
	data, err := json.Marshal(Revision{Content: g.Content, Author: g.Author, Written: g.Written})
	return store.Record{RecordKey: loadedKey(ref), Data: data}, err
}

func loadedKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: pendingKind, ID: loadedID}
}

// loaded is the guideline that was set aside; its Content is "" where there is none.
func (m *Manager) loaded(ctx context.Context, ref memoryd.ToolRef) (e Revision, err error) {
	_, err = store.ReadJSON(ctx, m.Store, loadedKey(ref), &e)
	return e, err
}

// Pending lists what waits for its quorum or for a person, in a tool's guideline.
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

// Release publishes a pending statement, or discards it if accept is false; by says who
// decided. It returns NotFound if nothing with that id is pending, for example because the
// wording changed. It returns the version with the statement.
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
	return e, m.Store.DeleteRecord(ctx, loadedKey(tool.ToolRef))
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
