package sqlite

import (
	"context"
	"database/sql/driver"
	"maps"
	"slices"

	"memoryd"
	"memoryd/store"
)

// PutGuideline implements store.Tools.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	g.Revision = expect + 1
	return s.w.do(ctx, rowBytes+int64(len(g.Content)), alone, func(d *draft) error {
		td := d.find(ref)
		if td == nil {
			return refusal{store.UnknownTool()}
		}
		if td.info.Guideline.Revision != expect {
			return refusal{store.Replaced("guideline")}
		}
		td.info.Guideline, td.info.Modified = g, d.now
		if err := d.writeGuideline(td.t, &g); err != nil {
			return err
		}
		return d.w.writeState(td.t, &td.info, d.w.lastLog)
	})
}

// writeGuideline writes the tool's guideline, unless it never had one.
func (d *draft) writeGuideline(t *tool, g *memoryd.Guideline) error {
	if g.Revision == 0 {
		return nil
	}
	return d.c.exec(`INSERT OR REPLACE INTO guidelines (`+guidelineColumns+`) VALUES (?,?,?,?,?,?,?)`,
		int64(t.id), g.Revision, text(g.Content), text(g.Author), g.BasedOn, g.ThroughSeq, micros(g.Written))
}

const guidelineColumns = `tool, revision, content, author, based_on, through_seq, written`

func scanGuideline(v []driver.Value) memoryd.Guideline {
	return memoryd.Guideline{
		Revision: integer(v[1]), Content: str(v[2]), Author: str(v[3]), BasedOn: integer(v[4]), ThroughSeq: integer(v[5]), Written: timeOf(v[6]),
	}
}

// DeleteTool implements store.Tools in the same way as DeleteWorkspace.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Workspace == "" || ref.Tool == "" {
		return nil // no tool has that name
	}
	_, err := s.delete(ctx, func() []*tool {
		if t := s.cat.byRef[ref]; t != nil {
			return []*tool{t}
		}
		return nil
	}, `workspace = ? AND tool = ?`, ref.Workspace, ref.Tool)
	return err
}

// DeleteWorkspace implements store.Tools. When it returns, the calls cannot be reached and
// their bytes are overwritten.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	if workspace == "" {
		return 0, nil
	}
	return s.delete(ctx, func() []*tool { return s.cat.toolsOf(workspace) }, `workspace = ?`, workspace)
}

// delete deletes tools, which the writer finds, and the records that a condition holds for. It
// returns the number of tools.
func (s *backend) delete(ctx context.Context, find func() []*tool, where string, values ...driver.Value) (int, error) {
	return s.wiped(ctx, func(d *draft) (int, error) {
		gone := find()
		return len(gone), d.deleteTools(gone, where, values...)
	})
}

// wiped deletes something and waits until its bytes are gone; it returns how much there was.
func (s *backend) wiped(ctx context.Context, remove func(d *draft) (int, error)) (int, error) {
	n, err := written(ctx, s.w, rowBytes, alone, remove)
	if err != nil || n == 0 {
		return 0, err
	}
	return n, s.wipe(ctx)
}

// deleteTools deletes tools and the records that a condition holds for.
func (d *draft) deleteTools(gone []*tool, where string, values ...driver.Value) error {
	d.wipes = true
	waiting := d.w.pend.of(gone)
	for _, p := range waiting {
		if err := d.deletePending(p); err != nil {
			return err
		}
	}
	for _, t := range gone {
		if err := d.deleteTool(t); err != nil {
			return err
		}
	}
	_, err := d.dropRecords(where, values...)
	d.after = append(d.after, func() { d.w.forget(gone, waiting) })
	return err
}

// deleteTool removes the tool's rows but for its calls, which go to purge.
func (d *draft) deleteTool(t *tool) error {
	err := d.c.wiping(func() error {
		for _, table := range []string{"tools WHERE id", "state WHERE tool", "guidelines WHERE tool"} {
			if err := d.c.exec(`DELETE FROM `+table+` = ?`, int64(t.id)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.purge = append(d.purge, t.kept...)
	return nil
}

// forget takes deleted tools out of memory. Their identities count no more
// because no tool has their number.
func (w *writer) forget(gone []*tool, waiting []*pendingCall) {
	w.cat.mu.Lock()
	w.cat.remove(gone)
	w.cat.mu.Unlock()
	for _, t := range gone {
		w.samples.remove(t.id)
	}
	for _, p := range waiting {
		w.pend.remove(p)
	}
}

// of gives the pending calls of the tools.
func (p *pendingSet) of(tools []*tool) []*pendingCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := map[uint32]bool{}
	for _, t := range tools {
		of[t.id] = true
	}
	return slices.DeleteFunc(slices.Collect(maps.Values(p.bySeq)), func(c *pendingCall) bool { return !of[c.tool] })
}
