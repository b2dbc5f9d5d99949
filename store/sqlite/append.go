package sqlite

import (
	"context"
	"sync"

	"memoryd"
	"memoryd/store"
)

// appending is one Batch on its way to a commit. What can be prepared without
// the writer is prepared by the caller's goroutine.
type appending struct {
	batch store.Batch
	bytes int64
	mask  [16]byte
	calls []prepared
	out   []store.Appended
}

// prepared is a call of a batch as its row, and what its identity needs.
type prepared struct {
	row        *callRow
	print, run uint64
}

// rowBytes is what a call takes beside its bodies, about.
const rowBytes = 512

// Append implements store.Calls.
func (s *backend) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	j := newAppending(b)
	if err := s.w.do(ctx, j.bytes, afterVerdicts, j.run); err != nil {
		return nil, err // the writer may still be at it
	}
	for i := range j.calls {
		row := j.calls[i].row
		row.clear()
		callRows.Put(row)
	}
	return j.out, nil
}

// callRows are rows that were written, to be used again: each add needs one.
var callRows = sync.Pool{New: func() any { return new(callRow) }}

func newAppending(b store.Batch) *appending {
	j := &appending{batch: b, mask: spaceMask(b.Workspace), calls: make([]prepared, len(b.Calls))}
	for i := range b.Calls {
		c := &b.Calls[i]
		row := callRows.Get().(*callRow) //nolint:forcetypeassert // the pool holds nothing else
		row.fill(c)
		j.calls[i] = prepared{row, contentPrint(store.ContentOf(c)), runPrint(b.Workspace, c.Run())}
		j.bytes += rowBytes + int64(len(c.Input)+len(c.Output)+len(c.Metadata)+len(c.Evaluation.Evaluation))
	}
	return j
}

func (j *appending) run(d *draft) error {
	j.out = make([]store.Appended, len(j.batch.Calls))
	touched := make([]*toolDraft, 0, 4)
	for i := range j.batch.Calls {
		ref := memoryd.ToolRef{Workspace: j.batch.Workspace, Tool: j.batch.Calls[i].Tool}
		td := d.find(ref)
		first := td == nil || td.madeBy == j
		td, err := j.accept(d, td, ref, i)
		if err != nil {
			return err
		}
		j.out[i].FirstOfTool = first
		if td != nil && td.touchedBy != j {
			td.touchedBy = j
			touched = append(touched, td)
		}
	}
	for _, td := range touched {
		if err := d.trim(td, j.batch.Keep); err != nil {
			return err
		}
	}
	return nil
}

// accept takes the i-th call in, unless its key is known. It gives the tool's
// draft, which may still be nil.
func (j *appending) accept(d *draft, td *toolDraft, ref memoryd.ToolRef, i int) (*toolDraft, error) {
	c, ready := &j.batch.Calls[i], &j.calls[i]
	id := identity{key: mixKey(c.Key, j.mask)}
	if d.knows(&id.key) {
		return td, nil
	}
	if td == nil {
		var err error
		if td, err = d.create(ref); err != nil {
			return nil, err
		}
		td.madeBy = j
	}
	id.tool = td.t.id
	id.print = fingerprint(ready.print, id.tool)
	repeat := d.repeats(id.print)
	slot, dropped, err := d.makeRoom(td, j.batch.Keep)
	if err != nil {
		return nil, err
	}
	td.count(d, repeat)
	j.out[i] = store.Appended{New: true, Seq: td.info.Lifetime}

	td.pushed = append(td.pushed, slot)
	sample := c.Sample()
	sample.Seq = td.info.Lifetime
	td.newer = append(td.newer, sample)
	return td, d.insert(td, c, ready.row, record{kind: recordAccepted, repeat: repeat, slot: slot, dropped: dropped, id: id, run: ready.run})
}

// insert writes the newest call of a tool, and all that is remembered of it.
func (d *draft) insert(td *toolDraft, c *memoryd.Call, row *callRow, r record) error {
	row.values[rowID].Value, row.values[rowTool].Value, row.values[rowSeq].Value = r.slot, int64(td.t.id), td.info.Lifetime
	if err := d.c.execNamed(insertCall, row.values[:]); err != nil {
		return err
	}
	d.remember(r)
	if c.Evaluation.State == memoryd.Pending {
		return d.addPending(td, c, r.slot, td.info.Lifetime)
	}
	return nil
}

// makeRoom gives the row for the next call: the oldest one's if the history is
// full, else a new one behind all others. dropped counts the calls that left.
func (d *draft) makeRoom(td *toolDraft, keep int) (slot int64, dropped int, err error) {
	for td.keptCount() >= keep {
		if slot != 0 {
			d.purge = append(d.purge, slot)
		}
		if slot, err = d.dropOldest(td); err != nil {
			return 0, 0, err
		}
		dropped++
	}
	if slot == 0 {
		d.w.nextSlot++
		slot = d.w.nextSlot
	}
	return slot, dropped, nil
}

func (td *toolDraft) count(d *draft, repeat bool) {
	td.info.Lifetime++
	td.info.Revision++
	td.info.Modified = d.now
	if repeat {
		td.info.Duplicates++
	}
}

func (d *draft) remember(r record) {
	d.keys[r.id.key] = r.id.tool
	d.prints[r.id.print] = struct{}{}
	d.seen = append(d.seen, r.id)
	if r.run != 0 {
		d.runs = append(d.runs, runEntry{r.run, r.slot})
	}
	d.record(r)
}

func (d *draft) addPending(td *toolDraft, c *memoryd.Call, slot, seq int64) error {
	d.w.nextPending++
	p := &pendingCall{
		id: d.w.nextPending, tool: td.t.id, slot: slot, seq: seq, key: c.Key,
		notBefore: c.Evaluation.NotBefore,
	}
	d.added[seqRef{p.tool, p.seq}] = p
	td.info.Pending++
	return d.insertPending(p)
}

func (d *draft) insertPending(p *pendingCall) error {
	return d.c.exec(`INSERT INTO pending (id, tool, slot, seq, key, not_before) VALUES (?,?,?,?,?,?)`,
		p.id, int64(p.tool), p.slot, p.seq, p.key[:], micros(p.notBefore))
}

func (d *draft) deletePending(p *pendingCall) error {
	return d.c.exec(`DELETE FROM pending WHERE id = ?`, p.id)
}

// restoring is a whole tool that is brought back.
type restoring struct {
	t     memoryd.Tool
	calls []memoryd.Call
}

// RestoreTool implements store.Tools.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	size := rowBytes + int64(len(t.Guideline.Content))
	for i := range calls {
		size += rowBytes + int64(store.TextBytes(&calls[i]))
	}
	return s.w.do(ctx, size, alone, (&restoring{t, calls}).run)
}

// run writes the tool as if all its commits had been made and folded already.
// The log holds the identities of the calls; the mark in the tool's state says
// that they are counted.
func (j *restoring) run(d *draft) error {
	if d.find(j.t.ToolRef) != nil {
		return refusal{store.ToolExists()}
	}
	mask := spaceMask(j.t.Workspace)
	for i := range j.calls {
		if key := mixKey(j.calls[i].Key, mask); d.knows(&key) {
			return refusal{store.CallKnown()}
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
	var slots []int64
	for i := range j.calls {
		slot, err := j.restore(d, td, &j.calls[i], mask)
		if err != nil {
			return err
		}
		slots = append(slots, slot)
	}
	td.t.kept = slots
	if err := d.writeGuideline(td.t, &td.info.Guideline); err != nil {
		return err
	}
	return d.w.writeState(td.t, &td.info, d.w.lastLog+1)
}

// restore writes one call.
func (j *restoring) restore(d *draft, td *toolDraft, c *memoryd.Call, mask [16]byte) (slot int64, err error) {
	d.w.nextSlot++
	slot = d.w.nextSlot
	td.info.Lifetime = c.Seq
	var row callRow
	row.fill(c)
	id := identity{key: mixKey(c.Key, mask), print: fingerprint(contentPrint(store.ContentOf(c)), td.t.id), tool: td.t.id}
	return slot, d.insert(td, c, &row, record{kind: recordAccepted, slot: slot, id: id, run: runPrint(j.t.Workspace, c.Run())})
}
