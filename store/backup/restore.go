package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// RestoreOptions say how to restore a file.
type RestoreOptions struct {
	// Name is the name of the file for people. The store keeps it until the restore is complete.
	Name string
	// Marks stores the mark of an unfinished restore; nil means the target store. It must not
	// create anything of its own, such as a redaction key.
	Marks store.Records
	// Workspace is the target workspace; empty means those of the file. The file must then contain
	// one workspace only.
	Workspace string
	// Replace overwrites existing tools. Without it and without SkipExisting, an existing tool is a
	// Conflict.
	Replace bool
	// SkipExisting keeps existing tools and adds only their missing records. It continues an
	// interrupted restore.
	SkipExisting bool
}

// Restore restores the tools of an exported file and returns their number.
//
// If r can seek, it is read twice. First the whole file is checked, including its hash, and
// whether its tools already exist (without Replace and SkipExisting). Only then is the first
// one written. Until the last one is written, a mark in the store says so (CheckWhole), and
// the same restore continues after an interruption. Without seeking, as from a pipe, each
// tool is written when it has been read, and an error says how many tools came before it.
// Several tools are written concurrently, because a remote store takes its time for each.
// Every tool is restored as a whole or not at all; its records follow.
//
// Errors name the line. Their kind is Invalid for a file that is damaged or not an export,
// TooLarge for lines above all limits, Conflict for what already exists, or that of the
// store's error.
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
	mark := Mark{Name: opts.Name, Workspace: opts.Workspace}
	if opts.Marks == nil {
		opts.Marks = s
	}
	again, err := mark.begun(ctx, opts.Marks)
	if err = errors.Join(err, mark.Alone(ctx, opts.Marks)); err != nil {
		return Counts{}, err
	}
	if again && w.existing == refuse {
		w.existing = skip
	}
	if err := verify(ctx, w, r, opts.Workspace); err != nil {
		return Counts{}, err
	}
	p := newParser(r)
	to := &restorer{writer: w, workspace: opts.Workspace}
	to.begin(ctx)
	err = mark.Around(ctx, opts.Marks, func() (bool, error) {
		err := p.each(to.start, func(m Memory) error { return to.take(ctx, m) })
		if werr := to.wait(ctx); werr != nil {
			err = werr
		}
		return to.n.Tools+to.n.Records > 0, err
	})
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
	err = newParser(r).each(func(m *manifest) error { return renamable(m, workspace) }, func(m Memory) error {
		if len(m.Calls) == 0 || w.existing != refuse {
			return ctx.Err()
		}
		ref := memoryd.ToolRef{Workspace: cmp.Or(workspace, m.Tool.Workspace), Tool: m.Tool.Tool}
		there, err := exists(ctx, w.s, ref)
		if err == nil && there {
			err = existsAlready(ref)
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

// beside is how many tools are restored at a time.
const beside = 8

// restorer writes what a file holds: a tool with its records while others are written.
type restorer struct {
	*writer

	workspace string // where everything comes; "" leaves it where it was
	under     *lifecycle.Group
	going     context.Context // it ends when a tool was not restored
	last      *restoring

	mu sync.Mutex
	n  Counts
}

// restoring is a tool that is being written.
type restoring struct {
	Memory
	skipped bool // it was there
}

// errStopped ends the reading when a tool was not restored; wait says why.
var errStopped = errors.New("stopped")

func (w *restorer) begin(ctx context.Context) {
	w.under, w.going = lifecycle.NewGroup(ctx, slog.New(slog.DiscardHandler), "restore", beside)
}

func (w *restorer) start(m *manifest) error {
	w.kinds = m.Kinds
	return renamable(m, w.workspace)
}

// wait waits until all that was begun is written, or was not; then it says so each time.
func (w *restorer) wait(ctx context.Context) error {
	err := w.under.Wait()
	if err == nil {
		w.begin(ctx)
	}
	return err
}

// take has a tool written beside others. What has no calls is written at once, further
// records of a tool when that is there.
func (w *restorer) take(ctx context.Context, m Memory) error {
	if w.workspace != "" {
		m.relocate(w.workspace)
	}
	w.mu.Lock()
	w.n.Records += len(m.Records)
	w.mu.Unlock()
	if len(m.Calls) == 0 {
		alone := m.Tool.Tool == ""
		if !alone && w.wait(ctx) != nil {
			return errStopped
		}
		return w.records(ctx, m.Records, alone || w.last.skipped)
	}
	u := &restoring{Memory: m}
	w.last = u
	w.under.Go(func() error {
		if err := w.write(ctx, u); err != nil {
			return within(err, "line %d", u.Line)
		}
		return nil
	})
	if w.going.Err() != nil {
		return errStopped
	}
	return nil
}

// write brings a tool and its records. What others write goes on when it fails.
func (w *restorer) write(ctx context.Context, u *restoring) (err error) {
	if u.skipped, err = w.tool(ctx, u.Tool, u.Calls); err != nil {
		return err
	}
	w.mu.Lock()
	if u.skipped {
		w.n.Skipped++
	} else {
		w.n.Tools++
		w.n.Calls += len(u.Calls)
	}
	w.mu.Unlock()
	return w.records(ctx, u.Records, u.skipped)
}

// records writes records together, or each as far as none is in its place.
func (w *restorer) records(ctx context.Context, rs []store.Record, each bool) error {
	if !each {
		return w.documents(ctx, rs)
	}
	for _, r := range rs {
		if err := w.document(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// existing says what becomes of a tool that is there already.
type existing int

const (
	refuse  existing = iota // an error; nothing changes
	replace                 // it goes, the new one comes
	skip                    // it stays
)

// writer brings tools into a store.
type writer struct {
	s        store.Store
	existing existing
	kinds    []string // of the records that are put back when a replacement fails
}

// tool restores a tool, all of it or nothing, and reports whether it was skipped.
func (w *writer) tool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) (bool, error) {
	err := w.s.RestoreTool(ctx, t, calls)
	if !memoryd.IsKind(err, memoryd.Conflict) {
		return false, err
	}
	there, err := exists(ctx, w.s, t.ToolRef)
	switch {
	case err != nil:
		return false, err
	case !there:
		return false, memoryd.Errorf(memoryd.Conflict,
			"a call of tool %q is known under another tool of workspace %q", t.Tool, t.Workspace)
	case w.existing == skip:
		return true, nil
	case w.existing == replace:
		return false, w.replace(ctx, t, calls)
	}
	return false, existsAlready(t.ToolRef)
}

func existsAlready(ref memoryd.ToolRef) error {
	return memoryd.Errorf(memoryd.Conflict, "tool %q of workspace %q already exists", ref.Tool, ref.Workspace)
}

func exists(ctx context.Context, s store.Store, ref memoryd.ToolRef) (bool, error) {
	_, err := s.Tool(ctx, ref)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// replace deletes and restores. A store cannot do both at once, so when the
// second fails the old tool is put back; only the death of the process in between
// leaves neither, and then the file still has the new one.
func (w *writer) replace(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	if err := store.CheckRestore(&t, calls); err != nil {
		return err
	}
	old, there, err := readMemory(ctx, w.s, t.ToolRef, w.kinds)
	if err != nil {
		return err
	}
	if err = w.s.DeleteTool(ctx, t.ToolRef); err == nil {
		err = w.s.RestoreTool(ctx, t, calls)
	}
	if err == nil || !there {
		return err
	}
	return errors.Join(err, w.putBack(ctx, &old))
}

// putBackTime is how long putting back may take, also after the context's end.
const putBackTime = 30 * time.Second

func (w *writer) putBack(ctx context.Context, m *Memory) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	err := w.s.RestoreTool(ctx, m.Tool, m.Calls)
	if memoryd.IsKind(err, memoryd.Conflict) {
		return nil // the old tool never left, or the new one came after all
	}
	if err == nil {
		err = w.documents(ctx, m.Records)
	}
	if err != nil {
		return within(err, "tool %q was removed but not restored; run the restore again", m.Tool.Tool)
	}
	return nil
}

// batchBytes bounds the records that are written at once.
const batchBytes = 8 << 20

// documents writes records of one workspace over whatever is there.
func (w *writer) documents(ctx context.Context, rs []store.Record) error {
	for len(rs) > 0 {
		n, size := 0, 0
		for n < len(rs) && (n == 0 || size+len(rs[n].Data) <= batchBytes) {
			size += len(rs[n].Data)
			n++
		}
		if err := w.s.PutRecords(ctx, rs[:n]); err != nil {
			return err
		}
		rs = rs[n:]
	}
	return nil
}

// document writes one record. One that is there stays when tools are skipped, and
// is a conflict when they are refused.
func (w *writer) document(ctx context.Context, r store.Record) error {
	r.Revision = 0
	if w.existing == replace {
		r.Revision = store.AnyRevision
	}
	_, err := w.s.PutRecord(ctx, r)
	if !memoryd.IsKind(err, memoryd.Conflict) {
		return err
	}
	if w.existing == skip {
		return nil
	}
	return memoryd.Errorf(memoryd.Conflict, "record %q of kind %s already exists", r.ID, r.Kind)
}

// relocate puts calls into another workspace. A key that follows from the call and
// its old workspace is made anew, so that the same call sent to the new workspace
// is known there; one that does not (the call had neither a time nor an id of its
// own, or was cut) stays.
func relocate(calls []memoryd.Call, workspace string) {
	for i := range calls {
		c := &calls[i]
		if c.Workspace == workspace {
			continue
		}
		id := memoryd.Identity{
			ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime,
			ToolCallID: memoryd.ToolCallID(c.Metadata), Source: c.Source(),
		}
		timeless, shared := id, id
		timeless.CreateTime, shared.Source = "", ""
		c.Workspace = workspace
		for _, id := range []memoryd.Identity{id, timeless, shared} {
			if (id.CreateTime != "" || id.ToolCallID != "") && id.Key() == c.Key {
				id.Workspace = workspace
				c.Key = id.Key()
				break
			}
		}
	}
}
