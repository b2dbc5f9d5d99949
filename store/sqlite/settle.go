package sqlite

import (
	"context"
	"database/sql/driver"

	"memoryd"
	"memoryd/store"
)

const (
	settleCall = `UPDATE calls SET state = ?, score = ?, judged_by = ?, rule = ?, judge_version = ?, judged_at = ?,
		attempts = ?, not_before = ?, last_error = ?, summary = ?, evaluation = ?, extra = ? WHERE id = ?`
	failCall = `UPDATE calls SET attempts = ?, last_error = ?, not_before = ? WHERE id = ?`
)

// settleJob is a set of verdicts on its way to a commit.
type settleJob struct {
	ticket
	verdicts []store.Verdict
	out      []bool
}

// Settle implements store.Verdicts.
func (s *backend) Settle(ctx context.Context, verdicts []store.Verdict) ([]bool, error) {
	size := int64(0)
	for i := range verdicts {
		if err := store.CheckEvaluation(&verdicts[i].Evaluation); err != nil {
			return nil, memoryd.Errorf(memoryd.Invalid, "verdict %d: %s", i, err)
		}
		size += rowBytes + int64(len(verdicts[i].Evaluation.Evaluation))
	}
	j := &settleJob{ticket: newTicket(ctx, size), verdicts: verdicts}
	if err := s.w.submit(j); err != nil {
		return nil, err
	}
	return j.out, nil
}

func (j *settleJob) order() order { return early }

func (j *settleJob) run(d *draft) error {
	j.out = make([]bool, len(j.verdicts))
	for i := range j.verdicts {
		var err error
		if j.out[i], err = d.settle(&j.verdicts[i]); err != nil {
			return err
		}
	}
	return nil
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
	return true, d.c.exec(`DELETE FROM pending WHERE id = ?`, p.id)
}
