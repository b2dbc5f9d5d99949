package journal

import (
	"bytes"
	"context"
	"encoding/gob"
	"sync"

	"memoryd"
	"memoryd/store"
)

// guides keeps, in the local store, the guidelines that the remote store was seen
// to hold, to answer with while it is away.
type guides struct {
	local store.Store
	mu    sync.Mutex
	known map[memoryd.ToolRef]int64 // revisions that are kept already
}

// maxGuides bounds the revisions in memory; beyond they are read again.
const maxGuides = 1 << 16

func newGuides(local store.Store) *guides {
	return &guides{local: local, known: map[memoryd.ToolRef]int64{}}
}

func guideKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: kindGuide, ID: "newest"}
}

// saw keeps a guideline if it is another than the one that is kept and the local
// store knows the tool.
func (g *guides) saw(ctx context.Context, ref memoryd.ToolRef, guide memoryd.Guideline) error {
	if guide.Revision == 0 || g.has(ref, guide.Revision) {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	t, err := g.local.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	kept, err := g.load(ctx, ref)
	if err != nil {
		return err
	}
	if kept.Revision != guide.Revision || kept.Content != guide.Content {
		if err := g.store(ctx, ref, guide, t.Guideline.Revision); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxGuides {
		clear(g.known)
	}
	g.known[ref] = guide.Revision
	return nil
}

// store writes the guideline as it is, and once more as the local tool's own: for
// that is what a local search looks at.
func (g *guides) store(ctx context.Context, ref memoryd.ToolRef, guide memoryd.Guideline, localRevision int64) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&guide); err != nil {
		return err
	}
	_, err := g.local.PutRecord(ctx, store.Record{RecordKey: guideKey(ref), Revision: store.AnyRevision, Data: b.Bytes()})
	if err == nil {
		err = g.local.PutGuideline(ctx, ref, guide, localRevision)
	}
	if memoryd.IsKind(err, memoryd.Conflict) || memoryd.IsKind(err, memoryd.NotFound) {
		return nil // another caller keeps one, or the tool is being deleted
	}
	return err
}

func (g *guides) has(ref memoryd.ToolRef, revision int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[ref] == revision
}

// load gives what is kept, the zero value if that is nothing.
func (g *guides) load(ctx context.Context, ref memoryd.ToolRef) (guide memoryd.Guideline, err error) {
	r, err := g.local.Record(ctx, guideKey(ref))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return guide, nil
	}
	if err != nil {
		return guide, err
	}
	if err := gob.NewDecoder(bytes.NewReader(r.Data)).Decode(&guide); err != nil {
		return guide, memoryd.Wrap(memoryd.Unavailable, err, "a kept guideline is damaged")
	}
	return guide, nil
}

// forget drops what is known of a deleted tool, or of all tools of a workspace.
func (g *guides) forget(ref memoryd.ToolRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for known := range g.known {
		if known.Workspace == ref.Workspace && (ref.Tool == "" || known.Tool == ref.Tool) {
			delete(g.known, known)
		}
	}
}
