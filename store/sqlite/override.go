package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"

	"memoryd"
	"memoryd/store"
)

// overrideJob puts a person's verdict in the place of what was there.
type overrideJob struct {
	ticket
	v      store.Verdict
	before memoryd.Call
}

// Override implements store.Verdicts.
func (s *backend) Override(ctx context.Context, v store.Verdict) (memoryd.Call, error) {
	j := &overrideJob{ticket: newTicket(ctx, rowBytes+int64(len(v.Evaluation.Evaluation))), v: v}
	if err := s.w.submit(j); err != nil {
		return memoryd.Call{}, err
	}
	return j.before, nil
}

func (j *overrideJob) order() order { return early }

func (j *overrideJob) run(d *draft) error {
	td := d.find(j.v.ToolRef)
	if td == nil {
		return j.refuse(memoryd.NotFound, "the history keeps no such call")
	}
	slot, err := d.findSlot(td, j.v.Key)
	if err != nil {
		return err
	}
	if slot == 0 {
		return j.refuse(memoryd.NotFound, "the history keeps no such call")
	}
	err = d.c.query(j.ctx, `SELECT `+callColumns+` FROM calls WHERE id = ?`, func(row []driver.Value) error {
		j.before = scanCall(row)
		j.before.ToolRef = j.v.ToolRef
		return nil
	}, slot)
	if err != nil {
		return err
	}
	return d.overrule(td, slot, j.before.Seq, &j.v)
}

// findSlot gives the row of a kept call of the tool, 0 if there is none. Keys
// have no index: a correction is rare, and a history is short.
func (d *draft) findSlot(td *toolDraft, key memoryd.CallKey) (slot int64, err error) {
	ids, err := json.Marshal(td.t.kept.all())
	if err != nil {
		return 0, err
	}
	return d.c.number(`SELECT id FROM calls WHERE id IN (SELECT value FROM json_each(?)) AND key = ?`, string(ids), key[:])
}

// overrule writes the verdict, whatever the call's state.
func (d *draft) overrule(td *toolDraft, slot, seq int64, v *store.Verdict) error {
	if d.w.pend.findKey(td.t.id, v.Key) != nil {
		written, err := d.settle(v)
		if err != nil || written {
			return err
		}
	}
	td.rewrites = true
	td.info.Revision++
	td.info.Modified = d.now
	d.judged = append(d.judged, judgedCall{td.t.id, seq, &v.Evaluation})
	d.record(record{kind: recordVerdict, tool: td.t.id})
	return d.c.exec(settleCall, append(evaluationValues(&v.Evaluation), driver.Value(slot))...)
}

// judgedCall is a call that had a verdict and got another.
type judgedCall struct {
	tool uint32
	seq  int64
	e    *memoryd.Evaluation
}
