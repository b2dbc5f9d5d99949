package search

import (
	"context"
	"errors"
	"fmt"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// Waits of the writer.
const (
	requestTimeout = 5 * time.Minute // of one request to the model, its queuing included
	retryFirst     = 5 * time.Second // after a failure; it doubles up to retryMost
	retryMost      = 5 * time.Minute
)

// run works the queue off until ctx ends. What fails stays in the queue.
func (x *Index) run(ctx context.Context) {
	for wait := retryFirst; ; {
		refs := x.queue.take(x.cfg.Batch)
		if len(refs) == 0 {
			select {
			case <-ctx.Done():
				return
			case <-x.queue.wake:
			}
			continue
		}
		err := lifecycle.Do(ctx, x.Logger, "searching", func() error { return x.write(ctx, refs) })
		if err == nil {
			wait = retryFirst
			continue
		}
		if ctx.Err() != nil {
			return
		}
		if x.failed.say() {
			x.Logger.WarnContext(ctx, "vectors of guidelines were not written and wait", "workspace", refs[0].Workspace, "tools", len(refs), "err", err)
		}
		if _, panicked := errors.AsType[*lifecycle.PanicError](err); !panicked { // else a later round finds them
			x.queue.add(refs...)
		}
		if !lifecycle.Sleep(ctx, min(retryMost, max(wait, waitOf(err)))) {
			return
		}
		wait = min(retryMost, 2*wait)
	}
}

// due is a tool whose vector has to be made.
type due struct {
	ref  memoryd.ToolRef
	text string
}

// write brings the vectors of the tools, all of one workspace, up to date.
func (x *Index) write(ctx context.Context, refs []memoryd.ToolRef) error {
	var list []due
	if x.Barred != nil && x.Barred(refs[0].Workspace) {
		return nil
	}
	for _, ref := range refs {
		text, stale, err := x.look(ctx, ref)
		if err != nil {
			return err
		}
		if stale {
			list = append(list, due{ref, text})
		}
	}
	if len(list) == 0 {
		return nil
	}
	records, err := x.embed(ctx, list)
	if err != nil || len(records) == 0 {
		return err
	}
	if err := x.Store.PutRecords(ctx, records); err != nil {
		return fmt.Errorf("write the vectors: %w", err)
	}
	x.cache.changed(refs[0].Workspace)
	return x.dropGone(ctx, list)
}

// look reports whether the tool's vector has to be made, and of which text. The
// vector of a tool without a guideline is removed.
func (x *Index) look(ctx context.Context, ref memoryd.ToolRef) (text string, stale bool, err error) {
	tool, err := x.Store.Tool(ctx, ref)
	if gone := memoryd.IsKind(err, memoryd.NotFound); gone || err == nil && tool.Guideline.Revision == 0 {
		if err = x.Store.DeleteRecord(ctx, keyOf(ref)); err == nil {
			x.cache.changed(ref.Workspace)
		}
		return "", false, err
	}
	if err != nil {
		return "", false, err
	}
	text = textOf(tool, x.cfg.MaxTextBytes)
	r, err := x.Store.Record(ctx, keyOf(ref))
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
		return text, true, nil
	case err != nil:
		return "", false, err
	}
	e, err := decode(r.Data)
	return text, err != nil || !x.fresh(e, digestOf(text)), nil
}

// embed makes the records of the list. When the model will have nothing to do with
// the list as a whole, it is shown each text alone; one that it still does not
// take gets no vector.
func (x *Index) embed(ctx context.Context, list []due) ([]store.Record, error) {
	records, err := x.ask(ctx, list)
	if err == nil || !ofText(err) {
		return records, err
	}
	for i := range list {
		one, aloneErr := x.ask(ctx, list[i:i+1])
		switch {
		case aloneErr == nil:
			records = append(records, one...)
		case !ofText(aloneErr):
			return nil, aloneErr
		case x.failed.say():
			x.Logger.WarnContext(ctx, "the model takes no vector of a guideline", "workspace", list[i].ref.Workspace, "tool", list[i].ref.Tool, "err", aloneErr)
		}
	}
	if len(records) == 0 && len(list) > 1 {
		return nil, err // it is not the texts
	}
	return records, nil
}

// ofText reports whether a failure may lie in the texts.
func ofText(err error) bool {
	e, ok := errors.AsType[*memoryd.ModelError](err)
	if !ok || e.Temporary {
		return false
	}
	switch e.Reason {
	case "too_long", "filtered", "refused", "rejected":
		return true
	}
	return false
}

// ask makes the vectors of the list in one request.
func (x *Index) ask(ctx context.Context, list []due) ([]store.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	texts := make([]string, len(list))
	for i, d := range list {
		texts[i] = d.text
	}
	vectors, err := x.Guidelines.Embed(ctx, list[0].ref.Workspace, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, fmt.Errorf("%w for each text: %d for %d", errNoVector, len(vectors), len(texts))
	}
	records := make([]store.Record, len(list))
	for i, d := range list {
		v, ok := unit(vectors[i])
		if !ok {
			return nil, fmt.Errorf("%w with a direction", errNoVector)
		}
		x.length.note(len(v))
		e := entry{model: x.cfg.EmbeddingModel, asked: x.cfg.Dimensions, text: digestOf(d.text), vector: v}
		records[i] = store.Record{RecordKey: keyOf(d.ref), Revision: store.AnyRevision, Data: e.encode()}
	}
	return records, nil
}

// dropGone removes what was written for tools that were deleted while the model
// was asked: nothing else would, where the whole workspace is gone.
func (x *Index) dropGone(ctx context.Context, list []due) error {
	for _, d := range list {
		_, err := x.Store.Tool(ctx, d.ref)
		if memoryd.IsKind(err, memoryd.NotFound) {
			err = x.Store.DeleteRecord(ctx, keyOf(d.ref))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
