package ops

import (
	"context"
	"fmt"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines/revisions"
	"memoryd/store"
)

// Forget is the action that removes the calls of a source from a workspace.
const Forget = "forget_source"

// forget removes the calls of a workspace that a source wrote, those also that a history let
// go. The tools that it touched lose the versions of their guidelines and the decisions on
// them; their guidelines are withdrawn first, and written anew from what is left. It reports
// how many calls there were; after an error, asking again goes on.
func (d *Deps) forget(ctx context.Context, workspace, source string) (int, error) {
	if err := d.ForgetSource(ctx, workspace, source); err != nil {
		return 0, err
	}
	n := 0
	for t, err := range store.AllTools(ctx, d.Store, workspace) {
		if err != nil {
			return n, err
		}
		cut, err := d.cut(ctx, t.ToolRef, source)
		if err != nil {
			return n, fmt.Errorf("tool %q, after %d calls: %w", t.Tool, n, err)
		}
		n += cut
	}
	return n, nil
}

func (d *Deps) cut(ctx context.Context, ref memoryd.ToolRef, source string) (int, error) {
	if err := kinds.Forget(ctx, d.Store, ref, source); err != nil {
		return 0, err
	}
	keys, err := keysOf(ctx, d.Store, ref, func(c *memoryd.Call) bool { return c.Source() == source })
	if err != nil {
		return 0, err
	}
	n, err := d.observed(ctx, ref, source)
	if n = max(n, len(keys)); err != nil || n == 0 {
		return 0, err
	}
	if err := d.unpublish(ctx, ref); err != nil {
		return 0, err
	}
	if len(keys) > 0 {
		if _, err := d.Store.DeleteCalls(ctx, ref, keys); err != nil {
			return 0, err
		}
	}
	if err := d.Forget(ctx, ref, source); err != nil {
		return n, err
	}
	d.Forecasts.Forget(ref)
	for _, k := range keys {
		if err := d.Store.DeleteRecord(ctx, store.RecordKey{ToolRef: ref, Kind: CorrectionKind, ID: k.String()}); err != nil {
			return n, err
		}
	}
	for _, kind := range revisions.Kinds() {
		of := store.AllRecords(ctx, d.Store, store.RecordKey{ToolRef: ref, Kind: kind})
		if err := store.Each(of, func(r store.Record) error { return d.Store.DeleteRecord(ctx, r.RecordKey) }); err != nil {
			return n, err
		}
	}
	if _, err = d.Revisions.Refresh(ctx, ref, revisions.Always); memoryd.IsKind(err, memoryd.NotFound) {
		return n, nil // it had no other calls
	}
	return n, err
}

// unpublish empties a tool's guideline, so that nothing of it stands while its calls go.
func (d *Deps) unpublish(ctx context.Context, ref memoryd.ToolRef) error {
	t, err := d.Store.Tool(ctx, ref)
	if err != nil || t.Guideline.Revision == 0 {
		return err
	}
	return d.Store.PutGuideline(ctx, ref, memoryd.Guideline{Author: t.Guideline.Author, Written: t.Guideline.Written}, t.Guideline.Revision)
}

// observed counts the calls of a source that a tool's guideline is learned from.
func (d *Deps) observed(ctx context.Context, ref memoryd.ToolRef, source string) (n int, err error) {
	list, err := d.Revisions.Sourced(ctx, ref, source) // it is off the workspace's list already
	if err != nil {
		return 0, err
	}
	for i := range list {
		if list[i].Source() == source {
			n++
		}
	}
	return n, nil
}

// keysOf gives the keys of the kept calls of a tool that of picks, newest first.
func keysOf(ctx context.Context, s store.Calls, ref memoryd.ToolRef, of func(*memoryd.Call) bool) (keys []memoryd.CallKey, err error) {
	for c, err := range store.AllCalls(ctx, s, ref, true) {
		if err != nil {
			return keys, err
		}
		if of(&c) {
			keys = append(keys, c.Key)
		}
	}
	return keys, nil
}
