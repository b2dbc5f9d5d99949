package search

import (
	"context"

	"memoryd"
	"memoryd/store"
)

// Saw is told of the tools of a workspace whose names come after a name, in byte
// order; last says that there are no more. Those whose vector is missing, broken
// or of another text or model are queued, as are vectors without a tool. It reads
// the vectors, asks no model and changes nothing.
func (x *Index) Saw(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool) {
	stored, err := x.stored(ctx, workspace, after, tools, last)
	if err != nil {
		if ctx.Err() == nil && x.failed.say() {
			x.Logger.WarnContext(ctx, "the vectors of guidelines could not be read", "workspace", workspace, "err", err)
		}
		return
	}
	for _, t := range tools {
		e, there := stored[t.Tool]
		delete(stored, t.Tool)
		written := t.Guideline.Revision > 0
		if written != there || written && !x.fresh(e, digestOf(textOf(t, x.cfg.MaxTextBytes))) {
			x.queue.add(t.ToolRef)
		}
	}
	for name := range stored {
		x.queue.add(memoryd.ToolRef{Workspace: workspace, Tool: name})
	}
}

// stored gives what is kept for the names on the page. A broken record is one of
// no model.
func (x *Index) stored(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool) (map[string]entry, error) {
	stored := map[string]entry{}
	for r, err := range store.AllRecords(ctx, x.Store, keyOf(memoryd.ToolRef{Workspace: workspace, Tool: after})) {
		if err != nil {
			return stored, err
		}
		if !last && (len(tools) == 0 || r.ID > tools[len(tools)-1].Tool) {
			break
		}
		e, err := decode(r.Data)
		if err != nil {
			e = entry{}
		}
		stored[r.ID] = e
	}
	return stored, nil
}
