package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
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
	w := &writer{s: s, workspace: opts.Workspace, beside: 8}
	switch {
	case opts.Replace:
		w.existing = replace
	case opts.SkipExisting:
		w.existing = skip
	}
	mark, marks := Mark{Name: opts.Name, Workspace: opts.Workspace}, cmp.Or[store.Records](opts.Marks, s)
	again, err := mark.begun(ctx, marks)
	if err = errors.Join(err, mark.Alone(ctx, marks)); err != nil {
		return Counts{}, err
	}
	if again && w.existing == refuse {
		w.existing = skip
	}
	if err := w.verify(ctx, r); err != nil {
		return Counts{}, err
	}
	err = mark.around(ctx, marks, func() (bool, error) {
		err := w.bring(ctx, newParser(r).all(w.start))
		return w.n.Tools+w.n.Records > 0, err
	})
	if err != nil {
		err = within(err, "after %s were restored", w.n)
	}
	return w.n, err
}

// verify reads a file that can be read again and rewinds it. A pipe it leaves
// alone.
func (w *writer) verify(ctx context.Context, r io.Reader) error {
	file, ok := r.(io.Seeker)
	if !ok {
		return nil
	}
	start, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil // a pipe has the method, but cannot
	}
	if err := store.Each(newParser(r).all(w.start), func(m Memory) error { return m.at(w.free(ctx, &m)) }); err != nil {
		return within(err, "nothing was restored")
	}
	if _, err := file.Seek(start, io.SeekStart); err != nil {
		return fmt.Errorf("backup: read the file again: %w", err)
	}
	return nil
}

// free refuses a memory whose tool is there already, where that is an error.
func (w *writer) free(ctx context.Context, m *Memory) error {
	if len(m.Calls) == 0 || w.existing != refuse {
		return ctx.Err()
	}
	ref := memoryd.ToolRef{Workspace: cmp.Or(w.workspace, m.Tool.Workspace), Tool: m.Tool.Tool}
	there, err := exists(ctx, w.s, ref)
	if err == nil && there {
		err = existsAlready(ref)
	}
	return err
}

// existing says what becomes of a tool that is there already.
type existing int

const (
	refuse  existing = iota // an error; nothing changes
	replace                 // it goes, the new one comes
	skip                    // it stays
)

// writer brings memories into a store, and counts them.
type writer struct {
	s         store.Store
	workspace string // where everything comes; "" leaves it where it was
	existing  existing
	kinds     []string // of the records that are put back when a replacement fails
	beside    int      // how many tools are written at a time

	mu sync.Mutex
	n  Counts
}

// start learns the manifest of a file, and refuses to put several workspaces into one.
func (w *writer) start(m *manifest) error {
	w.kinds = m.Kinds
	if w.workspace != "" && m.Scope != scopeWorkspace {
		return invalid("a whole store cannot be restored into one workspace")
	}
	return nil
}

// bring writes memories, some tools beside each other. What others write goes on when one fails.
func (w *writer) bring(ctx context.Context, list iter.Seq2[Memory, error]) (err error) {
	g, going := lifecycle.NewGroup(ctx, slog.New(slog.DiscardHandler), "restore", w.beside)
	for m, wrong := range list {
		switch {
		case wrong != nil:
			err = wrong
		case m.Tool.Tool == "":
			err = m.at(w.put(ctx, &m))
		default:
			g.Go(func() error { return m.at(w.put(ctx, &m)) })
			err = going.Err()
		}
		if err != nil {
			break
		}
	}
	return cmp.Or(g.Wait(), err)
}

// put writes a tool and its records together; records without a tool, and those of one that stays,
// as far as none is in their place.
func (w *writer) put(ctx context.Context, m *Memory) (err error) {
	if w.workspace != "" {
		m.relocate(w.workspace)
	}
	alone := m.Tool.Tool == ""
	if !alone {
		if alone, err = w.tool(ctx, m.Tool, m.Calls); err != nil {
			return err
		}
	}
	w.count(m, alone)
	if !alone {
		return w.documents(ctx, m.Records)
	}
	for _, r := range m.Records {
		if err := w.document(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) count(m *Memory, skipped bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n.Records += len(m.Records)
	switch {
	case m.Tool.Tool == "":
	case skipped:
		w.n.Skipped++
	default:
		w.n.Tools++
		w.n.Calls += len(m.Calls)
	}
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
	old, there, err := readMemory(ctx, w.s, t.ToolRef, w.kinds, time.Time{})
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
		id := c.Identity()
		id.Source = c.Source()
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
