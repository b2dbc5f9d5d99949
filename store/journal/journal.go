package journal

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"memoryd"
	"memoryd/store"
)

// Kinds of the records that the journal keeps in the local store, all of no
// workspace but the guidelines, which belong to their tools.
const (
	kindOp        = "spool_op"     // the journal, by number
	kindParked    = "spool_parked" // operations that the remote store refuses for ever
	kindMark      = "spool_mark"   // see below
	kindGuideline = "spool_guide"  // the remote store's guideline of a tool

	markCursor = "cursor" // the last operation that was forwarded
	markSelf   = "self"   // the name of this journal
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
		return nil, fmt.Errorf("journal: operation %d: %w", e.seq, err)
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
	if j.since += n; j.since < clearEvery && (!idle || j.since <= 0) {
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

// kind says what an operation does.
type kind byte

const (
	opAppend          kind = 'a'
	opSettle          kind = 's'
	opCache           kind = 'c'
	opDeleteTool      kind = 't'
	opDeleteWorkspace kind = 'w'
)

// op is one operation as the journal keeps it: all that is needed to repeat it.
type op struct {
	Kind kind
	// Ref is the tool, or the workspace, of a deletion; appends have their
	// workspace in it.
	Ref        memoryd.ToolRef
	Keep       int
	Calls      []memoryd.Call
	Verdicts   []store.Verdict
	Key        [16]byte
	Evaluation memoryd.Evaluation
	// Applied is a number such that all operations up to it had been carried out
	// on the local copy when this one was written.
	Applied int64
	// Accepted is when, in microseconds since 1970; 0 in older journals.
	Accepted int64
}

// format is the first byte of an encoded operation. Gob keeps strings and
// numbers as they are, also those that JSON cannot carry.
const format = 1

func (o *op) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte(format)
	if err := gob.NewEncoder(&b).Encode(o); err != nil {
		return nil, fmt.Errorf("journal: encoding an operation: %w", err)
	}
	return b.Bytes(), nil
}

func decode(data []byte) (*op, error) {
	if len(data) == 0 || data[0] != format {
		return nil, memoryd.Errorf(memoryd.Unavailable, "the journal holds an operation of another version")
	}
	o := new(op)
	if err := gob.NewDecoder(bytes.NewReader(data[1:])).Decode(o); err != nil {
		return nil, memoryd.Wrap(memoryd.Unavailable, err, "the journal holds a damaged operation")
	}
	return o, nil
}

// weight is what the operation counts against the bounds on operations.
func (o *op) weight() int { return max(1, len(o.Calls), len(o.Verdicts)) }

// size is about how many bytes the operation holds.
func (o *op) size() int64 {
	n := int64(512)
	for i := range o.Calls {
		n += callSize(&o.Calls[i])
	}
	for i := range o.Verdicts {
		n += evaluationSize(&o.Verdicts[i].Evaluation)
	}
	return n
}

func callSize(c *memoryd.Call) int64 {
	return int64(256+len(c.Input)+len(c.Output)+len(c.Metadata)+len(c.Tool)+len(c.Workspace)+len(c.CreateTime)+len(c.Hash)) +
		evaluationSize(&c.Evaluation)
}

func evaluationSize(e *memoryd.Evaluation) int64 {
	return int64(128 + len(e.Summary) + len(e.Evaluation) + len(e.LastError))
}

// maxOpBytes is how many bytes of calls one operation holds, unless it holds one
// call only. It keeps clear of what a record, and a request, may hold.
const maxOpBytes = 4 << 20

// split makes operations of a batch, in its order.
func split(b store.Batch) []*op {
	var out []*op
	var at *op
	size := int64(0)
	for i := range b.Calls {
		c := b.Calls[i]
		c.Workspace = b.Workspace
		if at == nil || size+callSize(&c) > maxOpBytes {
			at = &op{Kind: opAppend, Ref: memoryd.ToolRef{Workspace: b.Workspace}, Keep: b.Keep}
			out, size = append(out, at), 0
		}
		size += callSize(&c)
		at.Calls = append(at.Calls, c)
	}
	return out
}

// refs gives the tools that the operation touches; of a deleted workspace it is
// a reference without a tool.
func (o *op) refs() []memoryd.ToolRef {
	switch o.Kind {
	case opDeleteTool, opDeleteWorkspace:
		return []memoryd.ToolRef{o.Ref}
	case opCache:
		return nil
	}
	seen := map[memoryd.ToolRef]bool{}
	var out []memoryd.ToolRef
	add := func(ref memoryd.ToolRef) {
		if !seen[ref] {
			seen[ref] = true
			out = append(out, ref)
		}
	}
	for i := range o.Calls {
		add(o.Calls[i].ToolRef)
	}
	for i := range o.Verdicts {
		add(o.Verdicts[i].ToolRef)
	}
	return out
}

// kindTombstone is the kind of the records in the remote store that tell other journals
// of a deletion, so that their repairs do not bring back what was deleted.
const kindTombstone = "spool_grave"

// tombstoneLife is how long a deletion is remembered.
const tombstoneLife = 90 * 24 * time.Hour

func tombstoneKey(ref memoryd.ToolRef) store.RecordKey {
	id := sha256.Sum256([]byte(ref.Workspace + "\x00\x00" + ref.Tool))
	return store.RecordKey{Kind: kindTombstone, ID: hex.EncodeToString(id[:])}
}

// markDeleted leaves a tombstone for a tool, or a workspace, that is about to be deleted.
func (s *backend) markDeleted(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Workspace == "" {
		return nil
	}
	now := s.now()
	data := binary.BigEndian.AppendUint64(nil, uint64(s.self))
	data = binary.BigEndian.AppendUint64(data, uint64(now.UnixMicro()))
	_, err := s.remote.PutRecord(ctx, store.Record{
		RecordKey: tombstoneKey(ref), Revision: store.AnyRevision, Expires: now.Add(tombstoneLife), Data: data,
	})
	return err
}

// wasDeleted reports whether another journal deleted the tool, or its workspace, after
// the instant.
func (s *backend) wasDeleted(ctx context.Context, ref memoryd.ToolRef, after time.Time) (bool, error) {
	for _, r := range []memoryd.ToolRef{ref, {Workspace: ref.Workspace}} {
		g, err := s.remote.Record(ctx, tombstoneKey(r))
		if memoryd.IsKind(err, memoryd.NotFound) {
			continue
		}
		if err != nil {
			return false, err
		}
		if len(g.Data) != 16 || int64(binary.BigEndian.Uint64(g.Data)) == s.self {
			continue
		}
		if time.UnixMicro(int64(binary.BigEndian.Uint64(g.Data[8:]))).After(after) {
			return true, nil
		}
	}
	return false, nil
}
