package ops

import (
	"context"
	"fmt"

	"memoryd"
	"memoryd/evaluate/kinds"
	"memoryd/guidelines/preflight"
	"memoryd/guidelines/revisions"
	"memoryd/store"
)

// Forget is the action that removes the calls of a source from a workspace.
const Forget = "forget_source"

// forgetter cuts sources out.
type forgetter struct {
	store     store.Store
	revisions Revisions
	drop      func(ctx context.Context, ref memoryd.ToolRef) error
	source    func(ctx context.Context, workspace, source string) error
	forecasts *preflight.Cache // nil: there are none
}

// forget removes the kept calls of a workspace that a source wrote, with all that was
// learned of the tools that it touched: versions of guidelines, what was observed beyond
// the history, decisions on statements. Their guidelines are written anew from what is
// left. It reports how many calls there were; after an error, asking again goes on.
func (o forgetter) forget(ctx context.Context, workspace, source string) (int, error) {
	n := 0
	if o.source != nil {
		if err := o.source(ctx, workspace, source); err != nil {
			return 0, err
		}
	}
	for t, err := range store.AllTools(ctx, o.store, workspace) {
		if err != nil {
			return n, err
		}
		cut, err := o.cut(ctx, t.ToolRef, source)
		if err != nil {
			return n, fmt.Errorf("tool %q, after %d calls: %w", t.Tool, n, err)
		}
		n += cut
	}
	return n, nil
}

func (o forgetter) cut(ctx context.Context, ref memoryd.ToolRef, source string) (int, error) {
	if err := kinds.Forget(ctx, o.store, ref, source); err != nil {
		return 0, err
	}
	keys, err := keysOf(ctx, o.store, ref, func(c *memoryd.Call) bool { return c.Source() == source })
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	n, err := o.store.DeleteCalls(ctx, ref, keys)
	if err != nil {
		return 0, err
	}
	if o.drop != nil {
		if err := o.drop(ctx, ref); err != nil {
			return n, err
		}
	}
	if o.forecasts != nil {
		o.forecasts.Forget(ref)
	}
	for _, k := range keys {
		if err := o.store.DeleteRecord(ctx, store.RecordKey{ToolRef: ref, Kind: CorrectionKind, ID: k.String()}); err != nil {
			return n, err
		}
	}
	for _, kind := range revisions.Kinds() {
		if err := o.dropRecords(ctx, store.RecordKey{ToolRef: ref, Kind: kind}); err != nil {
			return n, err
		}
	}
	t, err := o.store.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return n, nil // it had no other calls
	}
	if err == nil && t.Guideline.Revision > 0 { // so that nothing of it stands while the new one is written
		err = o.store.PutGuideline(ctx, ref, memoryd.Guideline{Author: t.Guideline.Author, Written: t.Guideline.Written}, t.Guideline.Revision)
	}
	if err == nil {
		_, err = o.revisions.Refresh(ctx, ref, revisions.Always)
	}
	return n, err
}

func (o forgetter) dropRecords(ctx context.Context, from store.RecordKey) error {
	for {
		rs, err := o.store.ListRecords(ctx, from, 100)
		if err != nil || len(rs) == 0 {
			return err
		}
		for _, r := range rs {
			if err := o.store.DeleteRecord(ctx, r.RecordKey); err != nil {
				return err
			}
		}
	}
}

// keysOf gives the keys of the kept calls of a tool that of picks, newest first.
func keysOf(ctx context.Context, s store.Calls, ref memoryd.ToolRef, of func(*memoryd.Call) bool) (keys []memoryd.CallKey, err error) {
	for before := int64(0); ; {
		page, err := s.ListCalls(ctx, ref, store.CallPage{Before: before, Limit: 256, Brief: true})
		if err != nil || len(page) == 0 {
			return keys, err
		}
		for i := range page {
			if of(&page[i]) {
				keys = append(keys, page[i].Key)
			}
		}
		before = page[len(page)-1].Seq
	}
}
