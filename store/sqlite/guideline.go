package sqlite

import (
	"context"

	"memoryd"
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
