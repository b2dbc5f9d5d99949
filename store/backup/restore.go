package backup

import (
	"context"
	"fmt"
	"io"

	"memoryd"
	"memoryd/store"
)

// RestoreOptions say how a file is restored.
type RestoreOptions struct {
	// Workspace, when set, is the workspace that the tools come into, whatever the
	// file calls it. The file must be of one workspace.
	Workspace string
	// Replace removes a tool that is there before its namesake comes. Without it,
	// and without SkipExisting, such a tool is a Conflict.
	Replace bool
	// SkipExisting leaves a tool that is there as it is and adds only those records
	// that it lacks: how a restore goes on that was interrupted.
	SkipExisting bool
}

// Restore brings the tools of an exported file back and reports how many came.
//
// When r can seek it is read twice: first the whole file is checked, its hash
// included, and none of its tools may be there already (without Replace and
// SkipExisting); only then is the first one written. Otherwise, from a pipe, each
// tool is written once it has been read, and an error says how many tools came
// before it. Every tool comes whole or not at all; its records follow it.
//
// Errors name the line. Their kind is Invalid for a file that is damaged or not an
// export, TooLarge for lines beyond all bounds, Conflict for what exists, or the
// store's.
func Restore(ctx context.Context, s store.Store, r io.Reader, opts RestoreOptions) (Counts, error) {
	if opts.Replace && opts.SkipExisting {
		return Counts{}, invalid("a tool cannot be both replaced and skipped")
	}
	if opts.Workspace != "" {
		if err := store.CheckName("workspace", opts.Workspace); err != nil {
			return Counts{}, err
		}
	}
	w := &writer{s: s}
	switch {
	case opts.Replace:
		w.existing = replace
	case opts.SkipExisting:
		w.existing = skip
	}
	if err := verify(ctx, w, r, opts.Workspace); err != nil {
		return Counts{}, err
	}
	to := &restorer{writer: w, workspace: opts.Workspace}
	p := newParser(r)
	err := p.each(func(e entry) error { return to.take(ctx, e) })
	to.n.Bytes = p.in.bytes
	if err != nil {
		err = within(err, "after %s were restored", to.n)
	}
	return to.n, err
}

// verify reads a file that can be read again and rewinds it. A pipe it leaves
// alone.
func verify(ctx context.Context, w *writer, r io.Reader, workspace string) error {
	file, ok := r.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil // a pipe has the method, but cannot
	}
	err = newParser(r).each(func(e entry) error {
		switch {
		case e.Manifest != nil:
			return renamable(e.Manifest, workspace)
		case e.Tool == nil || w.existing != refuse:
			return ctx.Err()
		}
		e.relocate(workspace)
		there, err := exists(ctx, w.s, e.Tool.ToolRef)
		if err == nil && there {
			err = existsAlready(e.Tool.ToolRef)
		}
		return err
	})
	if err != nil {
		return within(err, "nothing was restored")
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("backup: read the file again: %w", err)
	}
	return nil
}

// renamable refuses to put several workspaces into one.
func renamable(m *manifest, workspace string) error {
	if workspace != "" && m.Scope != scopeWorkspace {
		return invalid("a whole store cannot be restored into one workspace")
	}
	return nil
}

// restorer writes what a file holds.
type restorer struct {
	*writer

	workspace string // where everything comes; "" leaves it where it was
	n         Counts

	fresh   memoryd.ToolRef // the tool that was restored last: it has no records yet
	batch   []store.Record  // its records, to be written at once
	pending int             // their bytes
}

func (w *restorer) take(ctx context.Context, e entry) error {
	e.relocate(w.workspace)
	switch {
	case e.Manifest != nil:
		w.kinds = e.Manifest.Kinds
		return renamable(e.Manifest, w.workspace)
	case e.Tool != nil:
		return w.takeTool(ctx, e)
	case e.Record != nil:
		return w.takeRecord(ctx, *e.Record)
	}
	return w.flush(ctx)
}

func (w *restorer) takeTool(ctx context.Context, e entry) error {
	skipped, err := w.tool(ctx, *e.Tool, e.Calls)
	switch {
	case err != nil:
		return err
	case skipped:
		w.n.Skipped++
	default:
		w.n.Tools++
		w.n.Calls += len(e.Calls)
		w.fresh = e.Tool.ToolRef
	}
	return nil
}

func (w *restorer) takeRecord(ctx context.Context, r store.Record) error {
	w.n.Records++
	if r.Tool == "" || r.ToolRef != w.fresh {
		return w.document(ctx, r)
	}
	w.batch = append(w.batch, r)
	if w.pending += len(r.Data); w.pending > batchBytes {
		return w.flush(ctx)
	}
	return nil
}

func (w *restorer) flush(ctx context.Context) error {
	batch := w.batch
	w.batch, w.pending = nil, 0
	return w.documents(ctx, batch)
}
