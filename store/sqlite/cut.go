package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"memoryd"
	"memoryd/store"
)

// DeleteCalls implements store.Calls. The history has no gaps afterwards: earlier calls move up.
func (s *backend) DeleteCalls(ctx context.Context, ref memoryd.ToolRef, keys []memoryd.CallKey) (int, error) {
	return s.wiped(ctx, func(d *draft) (int, error) {
		t := d.w.cat.byRef[ref]
		if t == nil {
			return 0, nil
		}
		return d.cut(t, keys)
	})
}

// cut takes calls out of a tool's history.
func (d *draft) cut(t *tool, keys []memoryd.CallKey) (int, error) {
	d.wipes = true
	slots := slices.Clone(t.kept)
	gone, err := d.rowsOf(slots, keys)
	if err != nil || len(gone) == 0 {
		return 0, err
	}
	if len(gone) == len(slots) {
		return len(gone), d.deleteTools([]*tool{t}, `workspace = ? AND tool = ?`, t.info.Workspace, t.info.Tool)
	}
	info, first := t.info, t.first()
	info.Revision++
	info.Modified = d.now
	var left []int64
	var before []memoryd.Call // numbers alone
	var moved, dropped []*pendingCall
	for i, slot := range slots {
		seq := first + int64(i)
		if !gone[slot] {
			left, before = append(left, slot), append(before, memoryd.Call{Seq: seq})
		} else if p := d.w.pend.findSeq(t.id, seq); p != nil {
			dropped = append(dropped, p)
			info.Pending--
		}
	}
	info.Kept = len(left)
	now := slices.Clone(before)
	store.Renumber(&info, now)
	for i := range now {
		seq, old := now[i].Seq, before[i].Seq
		if seq == old {
			continue
		}
		if p := d.w.pend.findSeq(t.id, old); p != nil {
			renumbered := *p
			renumbered.seq = seq
			moved, dropped = append(moved, &renumbered), append(dropped, p)
		}
		if err := d.c.exec(`UPDATE calls SET seq = ? WHERE id = ?`, seq, left[i]); err != nil {
			return 0, err
		}
	}
	d.purge = append(d.purge, slices.DeleteFunc(slots, func(s int64) bool { return !gone[s] })...)
	return len(gone), d.putCut(t, info, left, moved, dropped)
}

// rowsOf gives those of a tool's rows whose calls have one of the keys.
func (d *draft) rowsOf(slots []int64, keys []memoryd.CallKey) (map[int64]bool, error) {
	wanted, found := map[memoryd.CallKey]bool{}, map[int64]bool{}
	for _, k := range keys {
		wanted[k] = true
	}
	err := d.c.query(context.Background(), `SELECT id, key FROM calls WHERE id `+inList,
		func(row []driver.Value) error {
			var key memoryd.CallKey
			if copy(key[:], blob(row[1])); wanted[key] {
				found[integer(row[0])] = true
			}
			return nil
		}, listOf(slots))
	return found, err
}

// putCut writes what became of the tool, and tells memory after the commit.
func (d *draft) putCut(t *tool, info memoryd.Tool, left []int64, moved, dropped []*pendingCall) error {
	for _, p := range dropped {
		if err := d.deletePending(p); err != nil {
			return err
		}
	}
	for _, p := range moved {
		if err := d.insertPending(p); err != nil {
			return err
		}
	}
	if err := d.writeGuideline(t, &info.Guideline); err != nil {
		return err
	}
	after := &tool{id: t.id, kept: left}
	if err := d.w.writeState(after, &info, d.w.lastLog); err != nil {
		return err
	}
	d.after = append(d.after, func() {
		d.w.cat.mu.Lock()
		defer d.w.cat.mu.Unlock()
		t.kept, t.info, t.folded = after.kept, info, true
		t.rewrites += 2 // who reads by the old list reads again
		d.w.samples.remove(t.id)
		for _, p := range dropped {
			d.w.pend.remove(p)
		}
		for _, p := range moved {
			d.w.pend.add(p)
		}
	})
	return nil
}
