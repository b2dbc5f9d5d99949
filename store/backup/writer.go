package backup

import (
	"context"
	"errors"
	"time"

	"memoryd"
	"memoryd/store"
)

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
	return memoryd.Errorf(memoryd.Conflict, "tool %q of workspace %q exists already", ref.Tool, ref.Workspace)
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
	old, oldCalls, there, err := readTool(ctx, w.s, t.ToolRef)
	if err != nil {
		return err
	}
	var documents []store.Record
	for r, err := range records(ctx, w.s, t.ToolRef, w.kinds) {
		if err != nil {
			return err
		}
		documents = append(documents, r)
	}
	if err = w.s.DeleteTool(ctx, t.ToolRef); err == nil {
		err = w.s.RestoreTool(ctx, t, calls)
	}
	if err == nil || !there {
		return err
	}
	return errors.Join(err, w.putBack(ctx, old, oldCalls, documents))
}

// putBackTime is how long putting back may take, also after the context's end.
const putBackTime = 30 * time.Second

func (w *writer) putBack(ctx context.Context, t memoryd.Tool, calls []memoryd.Call, documents []store.Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), putBackTime)
	defer cancel()
	err := w.s.RestoreTool(ctx, t, calls)
	if memoryd.IsKind(err, memoryd.Conflict) {
		return nil // the old tool never left, or the new one came after all
	}
	if err == nil && len(documents) > 0 {
		err = w.documents(ctx, documents)
	}
	if err != nil {
		return within(err, "tool %q was removed and could not be put back; restore it again", t.Tool)
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
	return memoryd.Errorf(memoryd.Conflict, "record %q of kind %s exists already", r.ID, r.Kind)
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
			ToolRef: c.ToolRef, Input: c.Input, Output: c.Output, CreateTime: c.CreateTime, ToolCallID: memoryd.ToolCallID(c.Metadata),
		}
		timeless := id
		timeless.CreateTime = ""
		c.Workspace = workspace
		for _, id := range []memoryd.Identity{id, timeless} {
			if (id.CreateTime != "" || id.ToolCallID != "") && id.Key() == c.Key {
				id.Workspace = workspace
				c.Key = id.Key()
				break
			}
		}
	}
}
