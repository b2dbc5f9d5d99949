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
	p := &writer{s: s}
	switch {
	case opts.Replace:
		p.existing = replace
	case opts.SkipExisting:
		p.existing = skip
	}
	if err := verify(ctx, p, r, opts); err != nil {
		return Counts{}, err
	}
	w := &restorer{ctx: ctx, p: p, opts: opts}
	w.parser = newParser(r, w)
	err := w.parser.run()
	w.n.Bytes = w.parser.in.bytes
	if err != nil {
		err = within(err, "after %s were restored", w.n)
	}
	return w.n, err
}

// verify reads a file that can be read again and rewinds it. A pipe it leaves
// alone.
func verify(ctx context.Context, p *writer, r io.Reader, opts RestoreOptions) error {
	file, ok := r.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil // a pipe has the method, but cannot
	}
	v := &verifier{ctx: ctx, s: p.s, opts: opts, mayExist: p.existing != refuse}
	if err := newParser(r, v).run(); err != nil {
		return within(err, "nothing was restored")
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("transfer: read the file again: %w", err)
	}
	return nil
}

// verifier is the sink that writes nothing.
type verifier struct {
	ctx      context.Context // of one call of Restore
	s        store.Store
	opts     RestoreOptions
	mayExist bool
	m        *manifest
}

func (v *verifier) manifest(m *manifest) error {
	v.m = m
	return renamable(m, v.opts.Workspace)
}

// renamable refuses to put several workspaces into one.
func renamable(m *manifest, workspace string) error {
	if workspace != "" && m.Scope != scopeWorkspace {
		return invalid("a whole store cannot be restored into one workspace")
	}
	return nil
}

func (v *verifier) tool(t memoryd.Tool, _ []memoryd.Call) error {
	if err := v.m.sameScope(t.Workspace); err != nil {
		return err
	}
	if v.mayExist {
		return v.ctx.Err()
	}
	if v.opts.Workspace != "" {
		t.Workspace = v.opts.Workspace
	}
	there, err := exists(v.ctx, v.s, t.ToolRef)
	if err == nil && there {
		err = existsAlready(t.ToolRef)
	}
	return err
}

func (v *verifier) record(r store.Record) error { return v.m.sameScope(r.Workspace) }
func (v *verifier) end() error                  { return nil }

// restorer is the sink that writes.
type restorer struct {
	ctx    context.Context // of one call of Restore
	p      *writer
	opts   RestoreOptions
	parser *parser
	m      *manifest
	n      Counts

	fresh   memoryd.ToolRef // the tool that was restored last: it has no records yet
	batch   []store.Record  // its records, to be written at once
	pending int             // their bytes
}

func (w *restorer) manifest(m *manifest) error {
	w.m = m
	w.p.kinds = m.Kinds
	return renamable(m, w.opts.Workspace)
}

func (w *restorer) tool(t memoryd.Tool, calls []memoryd.Call) error {
	if err := w.m.sameScope(t.Workspace); err != nil {
		return err
	}
	if w.opts.Workspace != "" {
		relocate(calls, w.opts.Workspace)
		t.Workspace = w.opts.Workspace
	}
	skipped, err := w.p.tool(w.ctx, t, calls)
	if err != nil {
		return err
	}
	if skipped {
		w.n.Skipped++
	} else {
		w.n.Tools++
		w.n.Calls += len(calls)
		w.fresh = t.ToolRef
	}
	return nil
}

func (w *restorer) record(r store.Record) error {
	if err := w.m.sameScope(r.Workspace); err != nil {
		return err
	}
	if w.opts.Workspace != "" {
		r.Workspace = w.opts.Workspace
	}
	w.n.Records++
	if r.Tool == "" || r.ToolRef != w.fresh {
		return w.p.document(w.ctx, r)
	}
	w.batch = append(w.batch, r)
	if w.pending += len(r.Data); w.pending > batchBytes {
		return w.end()
	}
	return nil
}

func (w *restorer) end() error {
	batch := w.batch
	w.batch, w.pending = nil, 0
	return w.p.documents(w.ctx, batch)
}
