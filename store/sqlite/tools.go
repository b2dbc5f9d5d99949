package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"strings"

	"memoryd"
	"memoryd/store"
)

// guidelineJob replaces a tool's guideline.
type guidelineJob struct {
	ticket
	ref    memoryd.ToolRef
	g      memoryd.Guideline
	expect int64
}

// PutGuideline implements store.Tools.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return s.w.submit(&guidelineJob{
		ticket: newTicket(ctx, rowBytes+int64(len(g.Content))), ref: ref, g: g, expect: expect,
	})
}

func (j *guidelineJob) order() order { return alone }

func (j *guidelineJob) run(d *draft) error {
	t := d.w.cat.byRef[j.ref]
	if t == nil {
		return j.refuse(memoryd.NotFound, "there is no such tool")
	}
	if t.info.Guideline.Revision != j.expect {
		return j.refuse(memoryd.Conflict, "the guideline was replaced in between")
	}
	g := j.g
	g.Revision = j.expect + 1
	if err := d.writeGuideline(t, &g); err != nil {
		return err
	}
	if err := d.putSearch(t.id, j.ref, g.Content); err != nil {
		return err
	}
	info := t.info
	info.Guideline, info.Modified = g, d.now
	if err := d.w.writeState(t, &info, d.w.lastLog); err != nil {
		return err
	}
	d.after = append(d.after, func() {
		d.w.cat.mu.Lock()
		defer d.w.cat.mu.Unlock()
		t.info, t.folded = info, true
	})
	return nil
}

// writeGuideline writes the tool's guideline, unless it never had one.
func (d *draft) writeGuideline(t *tool, g *memoryd.Guideline) error {
	if g.Revision == 0 {
		return nil
	}
	return d.c.exec(`INSERT OR REPLACE INTO guidelines
		(tool, revision, content, author, based_on, through_seq, written) VALUES (?,?,?,?,?,?,?)`,
		int64(t.id), g.Revision, text(g.Content), text(g.Author), g.BasedOn, g.ThroughSeq, micros(g.Written))
}

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

// putSearch makes SearchTools find the tool by its name and its guideline.
func (d *draft) putSearch(tool uint32, ref memoryd.ToolRef, guideline string) error {
	return d.c.exec(`INSERT OR REPLACE INTO search (rowid, space, words) VALUES (?,?,?)`,
		int64(tool), spaceWord(ref.Workspace), ref.Tool+"\n"+guideline)
}

// spaceWord is a workspace as one word of the index.
func spaceWord(workspace string) string { return "w" + hex.EncodeToString([]byte(workspace)) }

// SearchTools implements store.Tools, by FTS5 and its BM25.
func (s *backend) SearchTools(ctx context.Context, workspace, query string, limit int) ([]memoryd.Tool, error) {
	words := store.Words(query)
	if len(words) == 0 || limit == 0 || workspace == "" {
		return nil, nil
	}
	match := `space : "` + spaceWord(workspace) + `" AND words : ("` + strings.Join(words, `" OR "`) + `")`
	var ids []uint32
	err := s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT rowid FROM search WHERE search MATCH ? ORDER BY bm25(search, 0.0, 1.0), rowid LIMIT ?`,
			func(v []driver.Value) error {
				ids = append(ids, uint32(integer(v[0])))
				return nil
			}, match, int64(limit))
	})
	if err != nil {
		return nil, err
	}
	return s.cat.toolsByID(ids), nil
}

// toolsByID gives the tools that are still there.
func (c *catalog) toolsByID(ids []uint32) []memoryd.Tool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []memoryd.Tool
	for _, id := range ids {
		if t := c.byID[id]; t != nil {
			out = append(out, t.info)
		}
	}
	return out
}
