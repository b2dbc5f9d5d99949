package journal

import (
	"bytes"
	"context"
	"encoding/gob"
	"sync"

	"memoryd"
	"memoryd/store"
)

// guidelineCache keeps, in the local store, the guidelines that the remote store was seen
// to hold, to answer with while it is away.
type guidelineCache struct {
	local store.Store
	mu    sync.Mutex
	known map[memoryd.ToolRef]int64 // revisions that are kept already
}

// maxGuidelines bounds the revisions in memory; beyond they are read again.
const maxGuidelines = 1 << 16

func newGuidelineCache(local store.Store) *guidelineCache {
	return &guidelineCache{local: local, known: map[memoryd.ToolRef]int64{}}
}

func guidelineKey(ref memoryd.ToolRef) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: kindGuideline, ID: "newest"}
}

// saw keeps a guideline if it is another than the one that is kept and the local
// store knows the tool.
func (g *guidelineCache) saw(ctx context.Context, ref memoryd.ToolRef, guideline memoryd.Guideline) error {
	if guideline.Revision == 0 || g.has(ref, guideline.Revision) {
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
	if kept.Revision != guideline.Revision || kept.Content != guideline.Content {
		if err := g.store(ctx, ref, guideline, t.Guideline.Revision); err != nil {
			return err
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.known) >= maxGuidelines {
		clear(g.known)
	}
	g.known[ref] = guideline.Revision
	return nil
}

// store writes the guideline as it is, and once more as the local tool's own: for
// that is what a local search looks at.
func (g *guidelineCache) store(ctx context.Context, ref memoryd.ToolRef, guideline memoryd.Guideline, localRevision int64) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&guideline); err != nil {
		return err
	}
	_, err := g.local.PutRecord(ctx, store.Record{RecordKey: guidelineKey(ref), Revision: store.AnyRevision, Data: b.Bytes()})
	if err == nil {
		err = g.local.PutGuideline(ctx, ref, guideline, localRevision)
	}
	if memoryd.IsKind(err, memoryd.Conflict) || memoryd.IsKind(err, memoryd.NotFound) {
		return nil // another caller keeps one, or the tool is being deleted
	}
	return err
}

func (g *guidelineCache) has(ref memoryd.ToolRef, revision int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[ref] == revision
}

// load gives what is kept, the zero value if that is nothing.
func (g *guidelineCache) load(ctx context.Context, ref memoryd.ToolRef) (guideline memoryd.Guideline, err error) {
	r, err := g.local.Record(ctx, guidelineKey(ref))
	if memoryd.IsKind(err, memoryd.NotFound) {
		return guideline, nil
	}
	if err != nil {
		return guideline, err
	}
	if err := gob.NewDecoder(bytes.NewReader(r.Data)).Decode(&guideline); err != nil {
		return guideline, memoryd.Wrap(memoryd.Unavailable, err, "a kept guideline is damaged")
	}
	return guideline, nil
}

// forget drops what is known of a deleted tool, or of all tools of a workspace.
func (g *guidelineCache) forget(ref memoryd.ToolRef) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for known := range g.known {
		if known.Workspace == ref.Workspace && (ref.Tool == "" || known.Tool == ref.Tool) {
			delete(g.known, known)
		}
	}
}
