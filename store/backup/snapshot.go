package backup

import (
	"context"
	"iter"
	"slices"

	"memoryd"
	"memoryd/store"
)

// readTries is how often a tool that is being written is read again.
const readTries = 8

// readTool reads a tool with its kept calls so that both are of one moment, also
// while others write, and numbers the calls alike for all backends. It reports
// false for a tool that is not there.
func readTool(ctx context.Context, s store.Store, ref memoryd.ToolRef) (memoryd.Tool, []memoryd.Call, bool, error) {
	for range readTries {
		t, err := s.Tool(ctx, ref)
		if memoryd.IsKind(err, memoryd.NotFound) {
			return t, nil, false, nil
		}
		if err != nil {
			return t, nil, false, err
		}
		calls, err := s.History(ctx, ref, 0)
		if err != nil {
			return t, nil, false, err
		}
		if calls, err = ofOneMoment(ctx, s, t, calls); err != nil {
			return t, nil, false, err
		}
		if len(calls) > 0 {
			store.Renumber(&t, calls)
			return t, calls, true, nil
		}
	}
	return memoryd.Tool{}, nil, false, memoryd.Errorf(memoryd.Unavailable,
		"tool %q of workspace %q changes faster than it can be read; try again", ref.Tool, ref.Workspace)
}

// ofOneMoment returns those of the calls, read after t, that t counts; none when
// that cannot be told.
func ofOneMoment(ctx context.Context, s store.Store, t memoryd.Tool, calls []memoryd.Call) ([]memoryd.Call, error) {
	if len(calls) == 0 || calls[len(calls)-1].Seq == t.Lifetime {
		return calls, nil
	}
	now, err := s.Tool(ctx, t.ToolRef)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if now.Lifetime == t.Lifetime {
		return calls, nil // a backend that numbers with gaps, at rest
	}
	if newest := calls[len(calls)-1].Seq; newest < t.Lifetime || newest > now.Lifetime {
		return nil, nil // numbers with gaps, and calls came in between
	}
	return slices.DeleteFunc(calls, func(c memoryd.Call) bool { return c.Seq > t.Lifetime }), nil
}

// records iterates over the records of a tool, of a workspace (no tool) or of the
// server (neither), by kind and id.
func records(ctx context.Context, s store.Store, ref memoryd.ToolRef, kinds []string) iter.Seq2[store.Record, error] {
	return func(yield func(store.Record, error) bool) {
		for _, kind := range kinds {
			for r, err := range store.AllRecords(ctx, s, store.RecordKey{ToolRef: ref, Kind: kind}) {
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}
