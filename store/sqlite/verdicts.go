package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"memoryd"
)

// Claim implements store.Verdicts. The choice is made in memory; the file is
// read for the calls that were chosen.
func (s *backend) Claim(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]memoryd.Call, error) {
	claimed := s.w.pend.claim(now, lease, limit)
	if len(claimed) == 0 {
		return nil, nil
	}
	out, err := s.readClaimed(ctx, claimed)
	if err != nil {
		s.w.pend.release(claimed)
		return nil, err
	}
	for i := range out {
		out[i].Evaluation.NotBefore = now.Add(lease)
	}
	return out, nil
}

// readClaimed reads the calls, less those judged or let go in the meantime.
func (s *backend) readClaimed(ctx context.Context, claimed []pendingCall) ([]memoryd.Call, error) {
	slots := make([]int64, len(claimed))
	found := make(map[int64]memoryd.Call, len(claimed))
	for i := range claimed {
		slots[i] = claimed[i].slot
	}
	err := s.readRows(ctx, callColumns, slots, func(v []driver.Value) error {
		c := scanCall(v)
		if ref, ok := s.cat.ref(uint32(integer(v[rowTool]))); ok && c.Evaluation.State == memoryd.Pending {
			c.ToolRef = ref
			found[integer(v[rowID])] = c
		}
		return nil
	}, ``, nil)
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
		return e, memoryd.Errorf(memoryd.NotFound, "no verdict is kept under this key")
	}
	return e, err
}

// cacheJob keeps one verdict.
type cacheJob struct {
	ticket
	key [16]byte
	e   memoryd.Evaluation
}

// CacheVerdict implements store.Verdicts.
func (s *backend) CacheVerdict(ctx context.Context, key [16]byte, e memoryd.Evaluation) error {
	return s.w.submit(&cacheJob{ticket: newTicket(ctx, rowBytes+int64(len(e.Evaluation))), key: key, e: e})
}

func (j *cacheJob) order() order { return late }

func (j *cacheJob) run(d *draft) error {
	d.w.nextVerdict++
	values := append([]driver.Value{d.w.nextVerdict, j.key[:]}, evaluationValues(&j.e)...)
	if err := d.c.exec(`INSERT OR REPLACE INTO verdicts (id, key, state, score, `+evaluationColumns+`)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)`, values...); err != nil {
		return err
	}
	// A few at a time, so that a smaller limit than last time costs no pause.
	return d.c.exec(`DELETE FROM verdicts WHERE id IN (SELECT id FROM verdicts WHERE id <= ? ORDER BY id LIMIT 4)`,
		d.w.nextVerdict-int64(d.w.cfg.VerdictCache))
}
