package revisions

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"memoryd"
	"memoryd/guidelines"
	"memoryd/guidelines/staleness"
	"memoryd/store"
)

// Edition is one version of a tool's guideline.
type Edition struct {
	Revision   int64     `json:"revision"`
	Content    string    `json:"content"`
	Author     string    `json:"author"`
	BasedOn    int64     `json:"based_on"`
	ThroughSeq int64     `json:"through_seq"`
	Written    time.Time `json:"written"`
	// Reasons say why the version before was stale.
	Reasons []string `json:"reasons,omitempty"`
	// Judges are the versions of the judges behind the calls.
	Judges []string `json:"judges,omitempty"`
	// RolledBackTo is the version whose text this is again, 0 for a text of its
	// own; Why says who took the one before back.
	RolledBackTo int64  `json:"rolled_back_to,omitempty"`
	Why          string `json:"why,omitempty"`
	// Document is the text as statements with their evidence; nil for a text that
	// came from elsewhere.
	Document *guidelines.Document `json:"document,omitempty"`
	// Baseline is what the text was written from, to tell when it is stale.
	Baseline staleness.Baseline `json:"baseline"`
}

func (e *Edition) guideline() memoryd.Guideline {
	return memoryd.Guideline{
		Content: e.Content, Author: e.Author, BasedOn: e.BasedOn, ThroughSeq: e.ThroughSeq, Written: e.Written,
	}
}

// The kinds of the records of this package.
const (
	editionKind  = "guideline"
	standingKind = "guideline_standing"
	standingID   = "standing"
)

// Kinds are the kinds of the records that this package keeps with tools.
func Kinds() []string { return []string{editionKind, standingKind} }

func editionKey(ref memoryd.ToolRef, revision int64) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: editionKind, ID: fmt.Sprintf("%012d", revision)}
}

// file keeps a version and lets the oldest go.
func (c *Curator) file(ctx context.Context, ref memoryd.ToolRef, e Edition) error {
	e.Baseline.Written = e.Written
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = c.Store.PutRecord(ctx, store.Record{RecordKey: editionKey(ref, e.Revision), Revision: store.AnyRevision, Data: data})
	if err != nil {
		return err
	}
	if old := e.Revision - int64(c.Config.Versions); old > 0 {
		return c.Store.DeleteRecord(ctx, editionKey(ref, old))
	}
	return nil
}

// current is the tool's present version, or what is known of it without its
// record.
func (c *Curator) current(ctx context.Context, tool memoryd.Tool) (Edition, error) {
	g := tool.Guideline
	if g.Revision == 0 {
		return Edition{}, nil
	}
	e, err := c.Edition(ctx, tool.ToolRef, g.Revision)
	if memoryd.IsKind(err, memoryd.NotFound) || err == nil && e.Content != g.Content {
		return Edition{
			Revision: g.Revision, Content: g.Content, Author: g.Author, BasedOn: g.BasedOn, ThroughSeq: g.ThroughSeq,
			Written: g.Written, Baseline: staleness.Baseline{Written: g.Written},
		}, nil
	}
	return e, err
}

// Edition gives one version, or NotFound.
func (c *Curator) Edition(ctx context.Context, ref memoryd.ToolRef, revision int64) (Edition, error) {
	r, err := c.Store.Record(ctx, editionKey(ref, revision))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return Edition{}, memoryd.Errorf(memoryd.NotFound, "there is no version %d of the guideline", revision)
	}
	if err != nil {
		return Edition{}, err
	}
	var e Edition
	return e, json.Unmarshal(r.Data, &e)
}

// Editions gives the kept versions of a tool, the newest first.
func (c *Curator) Editions(ctx context.Context, ref memoryd.ToolRef) ([]Edition, error) {
	tool, err := c.Store.Tool(ctx, ref)
	if err != nil {
		return nil, err
	}
	var all []Edition
	for from := editionKey(ref, 0); ; {
		records, err := c.Store.ListRecords(ctx, from, 100)
		if err != nil {
			return nil, err
		}
		if len(records) == 0 {
			break
		}
		for _, r := range records {
			var e Edition
			if err := json.Unmarshal(r.Data, &e); err != nil {
				return nil, fmt.Errorf("version %s: %w", r.ID, err)
			}
			all = append(all, e)
			from.ID = r.ID
		}
	}
	slices.Reverse(all)
	if g := tool.Guideline; g.Revision > 0 && (len(all) == 0 || all[0].Revision < g.Revision) {
		e, err := c.current(ctx, tool)
		if err != nil {
			return nil, err
		}
		all = append([]Edition{e}, all...)
	}
	return all, nil
}

// standing is what people and outcomes decided about a tool's guideline.
type standing struct {
	// Pinned is the version that must stay; 0: none.
	Pinned int64 `json:"pinned,omitempty"`
	// Proven is the version that did better than the one before it: it is shown to
	// all sessions.
	Proven int64 `json:"proven,omitempty"`
	// Rejected are the fingerprints of documents that did worse than the version
	// before them.
	Rejected []string `json:"rejected,omitempty"`
}

// maxRejected bounds what is remembered of bad versions.
const maxRejected = 20

func standingKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: standingKind, ID: standingID}
}

func (c *Curator) standing(ctx context.Context, ref memoryd.ToolRef) (st standing, revision int64, err error) {
	r, err := c.Store.Record(ctx, standingKey(ref))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return st, 0, nil
	}
	if err != nil {
		return st, 0, err
	}
	return st, r.Revision, json.Unmarshal(r.Data, &st)
}

// decide changes the standing, again if somebody else did in between.
func (c *Curator) decide(ctx context.Context, ref memoryd.ToolRef, change func(*standing)) error {
	for {
		st, revision, err := c.standing(ctx, ref)
		if err != nil {
			return err
		}
		change(&st)
		st.Rejected = st.Rejected[max(0, len(st.Rejected)-maxRejected):]
		data, err := json.Marshal(st)
		if err != nil {
			return err
		}
		_, err = c.Store.PutRecord(ctx, store.Record{RecordKey: standingKey(ref), Revision: revision, Data: data})
		if !memoryd.IsKind(err, memoryd.Conflict) {
			return err
		}
	}
}

// shownVersion reads metadata.guideline_version of a call: the version that its
// agent was shown, 0 when it did not say.
func shownVersion(metadata json.RawMessage) int64 {
	var m struct {
		Version any `json:"guideline_version"`
	}
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil {
		return 0
	}
	switch v := m.Version.(type) {
	case float64:
		if v == float64(int64(v)) {
			return int64(v)
		}
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err == nil {
			return n
		}
	}
	return 0
}
