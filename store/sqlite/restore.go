package sqlite

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"
)

// restoreJob brings a whole tool back.
type restoreJob struct {
	ticket
	t     memoryd.Tool
	calls []memoryd.Call
}

// RestoreTool implements store.Tools.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	size := rowBytes + int64(len(t.Guideline.Content))
	for i := range calls {
		size += rowBytes + int64(len(calls[i].Input)+len(calls[i].Output)+len(calls[i].Metadata))
	}
	calls = slices.Clone(calls)
	store.Renumber(&t, calls)
	return s.w.submit(&restoreJob{ticket: newTicket(ctx, size), t: t, calls: calls})
}

func (j *restoreJob) order() order { return alone }

// run writes the tool as if all its commits had been made and folded already.
// The log holds the identities of the calls; the mark in the tool's state says
// that they are counted.
func (j *restoreJob) run(d *draft) error {
	if d.find(j.t.ToolRef) != nil {
		return j.refuse(memoryd.Conflict, "the tool exists already")
	}
	mask := spaceMask(j.t.Workspace)
	for i := range j.calls {
		if key := mixKey(j.calls[i].Key, mask); d.knows(&key) {
			return j.refuse(memoryd.Conflict, "a call of the tool is known under another tool")
		}
	}
	td, err := d.create(j.t.ToolRef)
	if err != nil {
		return err
	}
	td.info.Duplicates, td.info.Revision = j.t.Duplicates, j.t.Revision
	td.info.Created, td.info.Modified, td.info.Guideline = j.t.Created, j.t.Modified, j.t.Guideline
	if err := d.c.exec(`UPDATE tools SET created = ? WHERE id = ?`, td.info.Created.UnixMicro(), int64(td.t.id)); err != nil {
		return err
	}
	td.info.Lifetime = j.t.Lifetime - int64(len(j.calls))
	var slots []int64
	for i := range j.calls {
		slot, err := j.restore(d, td, &j.calls[i], mask)
		if err != nil {
			return err
		}
		slots = append(slots, slot)
	}
	td.t.kept = ring{slots: slots, n: len(slots)}
	if err := d.writeGuideline(td.t, &td.info.Guideline); err != nil {
		return err
	}
	if err := d.putSearch(td.t.id, j.t.ToolRef, td.info.Guideline.Content); err != nil {
		return err
	}
	return d.w.writeState(td.t, &td.info, d.w.lastLog+1)
}

// restore writes one call.
func (j *restoreJob) restore(d *draft, td *toolDraft, c *memoryd.Call, mask [16]byte) (slot int64, err error) {
	hash := c.Hash
	if hash == "" {
		hash = memoryd.HashOf(c.Input, c.Output)
	}
	d.w.nextSlot++
	slot = d.w.nextSlot
	td.info.Lifetime++
	row := callValues(c)
	row[rowID].Value, row[rowTool].Value, row[rowSeq].Value = slot, int64(td.t.id), c.Seq
	if err := d.c.execNamed(insertCall, row); err != nil {
		return 0, err
	}
	id := identity{key: mixKey(c.Key, mask), print: fingerprint(contentPrint(hash), td.t.id), tool: td.t.id}
	d.remember(id, record{kind: recordAccepted, slot: slot, id: id, run: runPrint(j.t.Workspace, c.Run())})
	if c.Evaluation.State == memoryd.Pending {
		return slot, d.addPending(td, c, slot)
	}
	return slot, nil
}
