package journal

import (
	"context"
	"encoding/binary"
	"fmt"
	"strconv"
	"time"

	"memoryd"
	"memoryd/store"
)

// Kinds of the records that the spool keeps in the local store, all of no
// workspace but the guidelines, which belong to their tools.
const (
	kindOp     = "spool_op"     // the journal, by number
	kindParked = "spool_parked" // operations that the remote store refuses for ever
	kindMark   = "spool_mark"   // see below
	kindGuide  = "spool_guide"  // the remote store's guideline of a tool

	markCursor = "cursor" // the last operation that was forwarded
	markSelf   = "self"   // the name of this spool
	markKeep   = "keep"   // how many calls histories keep
)

// journal keeps operations in the local store.
type journal struct {
	local store.Store
	since int // operations forwarded since the journal was cleared up
}

func opKey(kind string, seq int64) store.RecordKey {
	return store.RecordKey{Kind: kind, ID: fmt.Sprintf("%016x", seq)}
}

// put makes operations durable, all or none. Their expiry is their number: one
// call of ExpireRecords then removes all up to a number.
func (j *journal) put(ctx context.Context, es []*entry) error {
	rs := make([]store.Record, len(es))
	for i, e := range es {
		data, err := e.op.encode()
		if err != nil {
			return err
		}
		rs[i] = store.Record{RecordKey: opKey(kindOp, e.seq), Expires: time.UnixMicro(e.seq), Data: data}
	}
	return j.local.PutRecords(ctx, rs)
}

// drop takes back operations that were put and could not be carried out.
func (j *journal) drop(ctx context.Context, es []*entry) error {
	for _, e := range es {
		if err := j.local.DeleteRecord(ctx, opKey(kindOp, e.seq)); err != nil {
			return err
		}
	}
	return nil
}

// load gives the content of an operation.
func (j *journal) load(ctx context.Context, e *entry) (*op, error) {
	r, err := j.local.Record(ctx, opKey(kindOp, e.seq))
	if err != nil {
		return nil, fmt.Errorf("spool: operation %d: %w", e.seq, err)
	}
	return decode(r.Data)
}

// clearEvery is after how many forwarded operations their records are removed.
const clearEvery = 512

// forwarded moves the cursor: all operations up to seq are at the remote store.
func (j *journal) forwarded(ctx context.Context, seq int64, n int, idle bool) error {
	if err := j.setMark(ctx, markCursor, seq); err != nil {
		return err
	}
	if j.since += n; j.since < clearEvery && !(idle && j.since > 0) {
		return nil
	}
	j.since = 0
	_, err := j.local.ExpireRecords(ctx, time.UnixMicro(seq), 1<<30)
	return err
}

// park puts an operation aside, for a person to look at.
func (j *journal) park(ctx context.Context, e *entry, o *op) error {
	data, err := o.encode()
	if err != nil {
		return err
	}
	_, err = j.local.PutRecord(ctx, store.Record{
		RecordKey: opKey(kindParked, e.seq), Revision: store.AnyRevision, Data: data,
	})
	return err
}

// read gives all operations after the cursor to f, in order. It returns the
// highest number that was ever given, as far as the journal knows.
func (j *journal) read(ctx context.Context, f func(seq int64, o *op) error) (int64, error) {
	last, err := j.mark(ctx, markCursor)
	if err != nil {
		return 0, err
	}
	for r, err := range store.AllRecords(ctx, j.local, opKey(kindOp, last)) {
		if err != nil {
			return last, err
		}
		seq, err := strconv.ParseInt(r.ID, 16, 64)
		if err != nil {
			return last, memoryd.Wrap(memoryd.Unavailable, err, "the journal is damaged")
		}
		o, err := decode(r.Data)
		if err != nil {
			return last, err
		}
		if err := f(seq, o); err != nil {
			return last, err
		}
		last = seq
	}
	return last, nil
}

// mark gives a kept number, 0 if there is none.
func (j *journal) mark(ctx context.Context, id string) (int64, error) {
	r, err := j.local.Record(ctx, store.RecordKey{Kind: kindMark, ID: id})
	switch {
	case memoryd.IsKind(err, memoryd.NotFound):
		return 0, nil
	case err != nil:
		return 0, err
	case len(r.Data) != 8:
		return 0, memoryd.Errorf(memoryd.Unavailable, "a mark of the journal is damaged")
	}
	return int64(binary.BigEndian.Uint64(r.Data)), nil
}

func (j *journal) setMark(ctx context.Context, id string, n int64) error {
	_, err := j.local.PutRecord(ctx, store.Record{
		RecordKey: store.RecordKey{Kind: kindMark, ID: id}, Revision: store.AnyRevision,
		Data: binary.BigEndian.AppendUint64(nil, uint64(n)),
	})
	return err
}
