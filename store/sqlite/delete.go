package sqlite

import (
	"context"

	"memoryd"
)

// deleteJob removes one tool, or all tools of a workspace.
type deleteJob struct {
	ticket
	ref   memoryd.ToolRef
	whole bool // the workspace
	n     int
}

// DeleteTool implements store.Tools.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	return s.w.submit(&deleteJob{ticket: newTicket(ctx, rowBytes), ref: ref})
}

// DeleteWorkspace implements store.Tools. The calls are out of reach when it
// returns; their bytes are overwritten in the background.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	j := &deleteJob{ticket: newTicket(ctx, rowBytes), ref: memoryd.ToolRef{Workspace: workspace}, whole: true}
	if err := s.w.submit(j); err != nil {
		return 0, err
	}
	return j.n, nil
}

func (j *deleteJob) order() order { return alone }

func (j *deleteJob) run(d *draft) error {
	var gone []*tool
	switch {
	case !j.whole:
		if t := d.w.cat.byRef[j.ref]; t != nil {
			gone = []*tool{t}
		}
	default:
		gone = d.w.cat.toolsOf(j.ref.Workspace)
	}
	j.n = len(gone)
	waiting := d.w.pend.of(gone)
	for _, p := range waiting {
		if err := d.c.exec(`DELETE FROM pending WHERE id = ?`, p.id); err != nil {
			return err
		}
	}
	for _, t := range gone {
		if err := d.deleteTool(t); err != nil {
			return err
		}
	}
	if err := j.dropRecords(d); err != nil {
		return err
	}
	d.after = append(d.after, func() { d.w.forget(gone, waiting) })
	return nil
}

// dropRecords deletes the documents of what is deleted.
func (j *deleteJob) dropRecords(d *draft) (err error) {
	switch {
	case j.ref.Workspace == "" || !j.whole && j.ref.Tool == "":
	case j.whole:
		_, err = d.dropRecords(`workspace = ?`, j.ref.Workspace)
	default:
		_, err = d.dropRecords(`workspace = ? AND tool = ?`, j.ref.Workspace, j.ref.Tool)
	}
	return err
}

// deleteTool removes the tool's rows but for its calls, which go to purge.
func (d *draft) deleteTool(t *tool) error {
	for _, table := range []string{"tools WHERE id", "state WHERE tool", "guidelines WHERE tool", "search WHERE rowid"} {
		if err := d.c.exec(`DELETE FROM `+table+` = ?`, int64(t.id)); err != nil {
			return err
		}
	}
	d.purge = append(d.purge, t.kept.all()...)
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
	var out []*pendingCall
	for _, t := range tools {
		if t.info.Pending == 0 {
			continue
		}
		first := t.info.Lifetime - int64(t.kept.len()) + 1
		for seq := first; seq <= t.info.Lifetime; seq++ {
			if c := p.bySeq[seqRef{t.id, seq}]; c != nil {
				out = append(out, c)
			}
		}
	}
	return out
}
