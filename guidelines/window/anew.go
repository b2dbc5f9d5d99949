package window

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
)

// Override implements store.Verdicts.
func (s watched) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	c, err := s.Store.Override(ctx, v)
	if err == nil {
		s.window.judged([]store.Verdict{v})
	}
	return c, err
}

// judgedAnew notes that a call was judged when its observation was judged or written already. The
// lock is held.
func (w *Window) judgedAnew(ref memoryd.ToolRef, key memoryd.CallKey) {
	if w.anew[ref] == nil {
		w.anew[ref] = map[memoryd.CallKey]bool{}
	}
	if len(w.anew[ref]) < pieceCalls*maxDecoded { // the history knows better as long as it has them
		w.anew[ref][key] = true
	}
}

// observeAnew writes what the history says now of calls that were judged anew: their
// observations stay when it has let them go.
func (w *Window) observeAnew(ctx context.Context) error {
	w.mu.Lock()
	all := w.anew
	w.anew = map[memoryd.ToolRef]map[memoryd.CallKey]bool{}
	w.mu.Unlock()
	var failed error
	for ref, keys := range all {
		if failed == nil {
			failed = memoryd.Except(w.rejudge(ctx, ref, keys), memoryd.NotFound)
		}
		w.mu.Lock()
		for key := range keys {
			if failed != nil || w.waitsFor(ref, key) {
				w.judgedAnew(ref, key)
			}
		}
		w.mu.Unlock()
	}
	return failed
}

// waitsFor reports whether a call's observation is not written yet. The lock is held.
func (w *Window) waitsFor(ref memoryd.ToolRef, key memoryd.CallKey) bool {
	is := func(ob *evidence.Observation) bool { return ob.Key == key }
	return w.fresh[ref] != nil && slices.ContainsFunc(w.fresh[ref].list, is) || slices.ContainsFunc(w.queue, is)
}

// rejudge rewrites the pieces of a tool that hold observations of some calls.
func (w *Window) rejudge(ctx context.Context, ref memoryd.ToolRef, keys map[memoryd.CallKey]bool) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return fmt.Errorf("observations of %q: %w", ref.Tool, err)
	}
	left := maps.Clone(keys)
	for i := range pieces {
		list := slices.Clone(w.observations(ctx, &pieces[i]))
		var calls []memoryd.Call
		for k := range list {
			if !left[list[k].Key] {
				continue
			}
			delete(left, list[k].Key)
			c, err := w.store.Call(ctx, ref, list[k].Key)
			if err == nil {
				calls = append(calls, c)
			} else if !memoryd.IsKind(err, memoryd.NotFound) {
				return err
			}
		}
		if len(calls) == 0 {
			continue
		}
		list = evidence.Merge(list, calls)
		for k := range list {
			if keys[list[k].Key] {
				list[k].Trim()
			}
		}
		if _, err := w.put(ctx, pieces[i].RecordKey, list); err != nil {
			return err
		}
	}
	return nil
}
