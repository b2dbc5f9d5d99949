package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"memoryd"
	"memoryd/store"
)

const (
	settleCall = `UPDATE calls SET state = ?, score = ?, judged_by = ?, rule = ?, judge_version = ?, judged_at = ?,
		attempts = ?, not_before = ?, last_error = ?, summary = ?, evaluation = ?, extra = ? WHERE id = ?`
	amendCall = `UPDATE calls SET success = ?, time_cost = ?, hash = ?, metadata = ?, input = ?, output = ? WHERE id = ?`
	failCall  = `UPDATE calls SET attempts = ?, last_error = ?, not_before = ? WHERE id = ?`
)

// Settle implements store.Verdicts.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	size := int64(0)
	for i := range verdicts {
		size += rowBytes + int64(len(verdicts[i].Evaluation.Evaluation))
	}
	return written(ctx, s.w, size, verdictsFirst, func(d *draft) (out []bool, err error) {
		out = make([]bool, len(verdicts))
		for i := range verdicts {
			if out[i], err = d.settle(&verdicts[i]); err != nil {
				return nil, err
			}
		}
		return out, nil
	})
}

// settle writes one verdict if its call is still pending.
func (d *draft) settle(v *store.Verdict) (bool, error) {
	td := d.find(v.ToolRef)
	if td == nil {
		return false, nil
	}
	p := d.w.pend.findKey(td.t.id, v.Key)
	if p == nil {
		return false, nil
	}
	if _, done := d.settled[p]; done {
		return false, nil
	}
	td.rewrites = true
	e := &v.Evaluation
	if e.State == memoryd.Pending {
		d.retried[p] = e.NotBefore
		if err := d.c.exec(failCall, int64(e.Attempts), text(e.LastError), micros(e.NotBefore), p.slot); err != nil {
			return false, err
		}
		return true, d.c.exec(`UPDATE pending SET not_before = ? WHERE id = ?`, micros(e.NotBefore), p.id)
	}
	d.settled[p] = e
	td.info.Pending--
	td.info.Revision++
	td.info.Modified = d.now
	d.record(record{kind: recordVerdict, tool: td.t.id})
	if err := d.c.exec(settleCall, append(evaluationValues(e), driver.Value(p.slot))...); err != nil {
		return false, err
	}
	return true, d.deletePending(p)
}

// Override implements store.Verdicts: it replaces a verdict by a person's.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	size := rowBytes + int64(len(v.Evaluation.Evaluation))
	if a := v.Amendment; a != nil {
		size += int64(len(a.Input) + len(a.Output) + len(a.Metadata))
	}
	return written(ctx, s.w, size, verdictsFirst, func(d *draft) (before memoryd.Call, err error) {
		td := d.find(v.ToolRef)
		if td == nil {
			return before, refusal{store.UnknownCall()}
		}
		slot, err := d.findSlot(td, v.Key)
		if err != nil {
			return before, err
		}
		if slot == 0 {
			return before, refusal{store.UnknownCall()}
		}
		err = d.c.query(ctx, `SELECT `+callColumns+` FROM calls WHERE id = ?`, func(row []driver.Value) (err error) {
			before, err = scanCall(row)
			before.ToolRef = v.ToolRef
			return err
		}, slot)
		if err != nil {
			return before, err
		}
		return before, d.overrule(td, slot, before.Seq, &v)
	})
}

// findSlot gives the row of a kept call of the tool, 0 if there is none. Keys
// have no index: a correction is rare, and a history is short.
func (d *draft) findSlot(td *toolDraft, key memoryd.CallKey) (slot int64, err error) {
	return d.c.number(`SELECT id FROM calls WHERE id `+inList+` AND key = ?`, listOf(td.t.kept), key[:])
}

// overrule writes the verdict and the amendment, whatever the call's state.
func (d *draft) overrule(td *toolDraft, slot, seq int64, v *store.Verdict) error {
	if a := v.Amendment; a != nil {
		if err := d.c.exec(amendCall, flag(a.Success), a.TimeCost, text(a.Hash), raw(a.Metadata), new(packing).text(raw(a.Input)),
			new(packing).text(text(a.Output)), slot); err != nil {
			return err
		}
	}
	d.judged = append(d.judged, judgedCall{td.t.id, seq, &v.Evaluation, v.Amendment})
	waits := v.Evaluation.State == memoryd.Pending
	p := d.w.pend.findKey(td.t.id, v.Key)
	if p != nil { // one that waits is let go by who has claimed it
		written, err := d.settle(v)
		if err != nil || written && !waits {
			return err
		}
	}
	if _, done := d.settled[p]; waits && (p == nil || done) && d.added[seqRef{td.t.id, seq}] == nil {
		if err := d.addPending(td, &memoryd.Call{Key: v.Key, Evaluation: v.Evaluation}, slot, seq); err != nil {
			return err
		}
	}
	td.rewrites = true
	td.info.Revision++
	td.info.Modified = d.now
	d.record(record{kind: recordVerdict, tool: td.t.id})
	return d.c.exec(settleCall, append(evaluationValues(&v.Evaluation), driver.Value(slot))...)
}

// judgedCall is a call that had a verdict and got another, and perhaps more.
type judgedCall struct {
	tool  uint32
	seq   int64
	e     *memoryd.Evaluation
	amend *memoryd.Amendment
}

// Claim implements store.Verdicts. It chooses the calls in memory, and reads only those from
// the file.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	claimed := s.w.pend.claim(now, lease, limit)
	if len(claimed) == 0 {
		return nil, nil
	}
	out, err := s.readClaimed(ctx, claimed)
	for i := range out {
		out[i].Evaluation.NotBefore = now.Add(lease)
	}
	return out, err
}

// readClaimed reads the calls, less those judged or let go in the meantime.
func (s *backend) readClaimed(ctx context.Context, claimed []pendingCall) ([]memoryd.Call, error) {
	slots := make([]int64, len(claimed))
	found := make(map[int64]memoryd.Call, len(claimed))
	for i := range claimed {
		slots[i] = claimed[i].slot
	}
	err := s.readRows(ctx, callColumns, slots, nil, func(v []driver.Value) error {
		c, err := scanCall(v)
		if ref, ok := s.cat.ref(uint32(integer(v[rowTool]))); ok && c.Evaluation.State == memoryd.Pending {
			c.ToolRef = ref
			found[integer(v[rowID])] = c
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	out := make([]memoryd.Call, 0, len(claimed))
	for i := range claimed {
		if c, ok := found[claimed[i].slot]; ok && c.Seq == claimed[i].seq && c.Key == claimed[i].key {
			out = append(out, c)
		}
	}
	return out, nil
}

// ref gives the name of a live tool.
func (c *catalog) ref(id uint32) (memoryd.ToolRef, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	t := c.byID[id]
	if t == nil {
		return memoryd.ToolRef{}, false
	}
	return t.info.ToolRef, true
}

// CachedVerdict implements store.Verdicts.
func (s *backend) CachedVerdict(ctx context.Context, key [16]byte) (memoryd.Evaluation, error) {
	var e memoryd.Evaluation
	found := false
	err := s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT state, score, `+evaluationColumns+` FROM verdicts WHERE key = ?`,
			func(v []driver.Value) error {
				e, found = scanEvaluation(stateOf(v[0]), float(v[1]), v[2:]), true
				return nil
			}, key[:])
	})
	if err == nil && !found {
		return e, store.UnknownVerdict()
	}
	return e, err
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return s.w.do(ctx, rowBytes+int64(len(e.Evaluation)), afterVerdicts, func(d *draft) error {
		d.w.nextVerdict++
		values := append([]driver.Value{d.w.nextVerdict, key[:]}, evaluationValues(&e)...)
		if err := d.c.exec(`INSERT OR REPLACE INTO verdicts (id, key, state, score, `+evaluationColumns+`)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, values...); err != nil {
			return err
		}
		// A few at a time, so that a smaller limit than last time costs no pause.
		return d.c.exec(`DELETE FROM verdicts WHERE id IN (SELECT id FROM verdicts WHERE id <= ? ORDER BY id LIMIT 4)`,
			d.w.nextVerdict-int64(d.w.cfg.VerdictCache))
	})
}
