package window

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// recordKind is the kind of the records.
const recordKind = "observations"

// Kinds are the kinds of the records that this package stores with tools and workspaces.
func Kinds() []string { return []string{recordKind, sourceKind} }

func key(ref memoryd.ToolRef, id string) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: recordKind, ID: id}
}

// pieceKey is that of a piece by the number of its first call.
func pieceKey(ref memoryd.ToolRef, seq int64) store.RecordKey {
	return key(ref, fmt.Sprintf("%016d", seq))
}

// due is what waits of a tool and is to be written.
type due struct {
	ref  memoryd.ToolRef
	from *batch
	even bool // only what fills pieces
}

// foldAtOnce is how many tools are written while readers wait, and in one commit.
const foldAtOnce = 64

// fold writes what waits: of tools with old observations, or of all tools for all or where too
// many wait, everything; of others what fills pieces.
func (w *Window) fold(ctx context.Context, all bool) error {
	for all && w.read(ctx) {
	}
	w.mu.Lock()
	all = all || w.waiting > maxFresh
	var list []due
	for ref, b := range w.fresh {
		even := !all && w.now().Sub(b.since) < foldAge
		if !even || len(b.list) >= pieceCalls {
			list = append(list, due{ref, b, even})
		}
	}
	w.mu.Unlock()
	slices.SortFunc(list, func(a, b due) int { // neighbours share pages of the store, and workspaces a commit
		return cmp.Or(cmp.Compare(a.ref.Workspace, b.ref.Workspace), cmp.Compare(a.ref.Tool, b.ref.Tool))
	})
	for some := range slices.Chunk(list, foldAtOnce) {
		if err := w.foldSome(ctx, some); err != nil {
			return err
		}
	}
	return w.observeAnew(ctx)
}

// foldSome writes what waits of some tools. Few observations become a piece of their own, so
// that a call more does not cost what the tool has already; where there are many pieces, they
// are joined.
func (w *Window) foldSome(ctx context.Context, list []due) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	small := map[string][]store.Record{} // by workspace
	done := make(map[memoryd.ToolRef]int, len(list))
	for _, d := range list {
		waiting := w.waits(d)
		if len(waiting) == 0 {
			continue // deleted meanwhile
		}
		few, err := w.few(ctx, d.ref, len(waiting))
		switch {
		case err != nil:
		case few:
			var data []byte
			data, err = encode(waiting)
			small[d.ref.Workspace] = append(small[d.ref.Workspace], store.Record{RecordKey: pieceKey(d.ref, waiting[0].Seq), Data: data})
			done[d.ref] = len(waiting)
		default:
			done[d.ref], err = w.join(ctx, d.ref, waiting, d.even)
		}
		if err = memoryd.Except(err, memoryd.NotFound); err != nil { // a tool that is gone needs nothing
			return fmt.Errorf("observations of %q: %w", d.ref.Tool, err)
		}
	}
	for workspace, records := range small {
		if err := w.putAll(ctx, records); err != nil {
			return fmt.Errorf("observations of tools of %q: %w", workspace, err)
		}
	}
	for _, d := range list {
		w.written(d, done[d.ref])
	}
	return nil
}

// waits are copies of the observations that wait to be written.
func (w *Window) waits(d due) []evidence.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fresh[d.ref] != d.from {
		return nil
	}
	list := make([]evidence.Observation, len(d.from.list))
	for i, ob := range d.from.list {
		list[i] = *ob
	}
	return list
}

// written drops the first n of what waited of a tool.
func (w *Window) written(d due, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := d.from
	if w.fresh[d.ref] != b {
		return // deleted meanwhile
	}
	for _, ob := range b.list[:n] {
		delete(w.late, ob.Key)
	}
	w.waiting -= n
	if b.list = slices.Clone(b.list[n:]); len(b.list) == 0 { // the old array keeps what was written
		delete(w.fresh, d.ref)
		return
	}
	b.since = w.now()
}

// few reports whether n observations of a tool may become a piece of their own: until there are
// half as many pieces again as full ones would be.
func (w *Window) few(ctx context.Context, ref memoryd.ToolRef, n int) (bool, error) {
	if n >= pieceCalls {
		return false, nil
	}
	size, err := w.store.RecordsSize(ctx, key(ref, ""))
	return size.Count <= int64(w.calls*3/2/pieceCalls) && size.Bytes <= maxToolBytes, err
}

// putAll writes pieces of tools of one workspace, but for those of tools that are gone.
func (w *Window) putAll(ctx context.Context, records []store.Record) error {
	err := w.store.PutRecords(ctx, records)
	if !memoryd.IsKind(err, memoryd.NotFound) {
		return err
	}
	for i := range records {
		if err := memoryd.Except(w.store.PutRecords(ctx, records[i:i+1]), memoryd.NotFound); err != nil {
			return err
		}
	}
	return nil
}

// join adds observations to the tool's records, in full pieces but for the last one, lets the
// oldest go and says how many of the list it needs no more. If even, it leaves those that fill
// no piece: whoever writes much packs each observation once.
func (w *Window) join(ctx context.Context, ref memoryd.ToolRef, list []evidence.Observation, even bool) (int, error) {
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return len(list), err
	}
	var last []evidence.Observation
	full, next := len(pieces), list[0].Seq
	for ; full > 0 && pieces[full-1].ID != pieceKey(ref, next-pieceCalls).ID; full-- { // a piece with this name is full
		piece := w.observations(ctx, &pieces[full-1])
		if len(piece) >= pieceCalls {
			break
		}
		last = slices.Concat(piece, last)
		if len(piece) > 0 {
			next = piece[0].Seq
		}
	}
	last = inOrder(last)
	if even {
		list = list[:len(list)-(len(last)+len(list))%pieceCalls]
	}
	newest := list[max(0, len(list)-w.calls):]
	size, err := w.rewrite(ctx, ref, pieces[full:], append(last, newest...))
	if err != nil {
		return len(list), err
	}
	calls := len(last) + len(newest)
	for _, piece := range slices.Backward(pieces[:full]) {
		if calls >= w.calls || size > maxToolBytes {
			if err := w.store.DeleteRecord(ctx, piece.RecordKey); err != nil {
				return len(list), err
			}
			continue
		}
		calls, size = calls+pieceCalls, size+len(piece.Data)
	}
	return len(list), nil
}

// rewrite writes observations in the place of pieces, which hold no others before them and at
// most as many, and gives their size. Only the last piece is not full. What is cut short leaves
// observations twice, which whoever reads them sees to, and loses none.
func (w *Window) rewrite(ctx context.Context, ref memoryd.ToolRef, pieces []store.Record, list []evidence.Observation) (int, error) {
	size := 0
	for part := range slices.Chunk(list, pieceCalls) {
		at := pieceKey(ref, part[0].Seq)
		if len(pieces) > 0 {
			at, pieces = pieces[0].RecordKey, pieces[1:]
		}
		n, err := w.put(ctx, at, part)
		if err != nil {
			return 0, err
		}
		size += n
	}
	for i := range pieces {
		if err := w.store.DeleteRecord(ctx, pieces[i].RecordKey); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// inOrder sorts observations of a tool and drops those that are there twice.
func inOrder(list []evidence.Observation) []evidence.Observation {
	evidence.Sort(list)
	return slices.CompactFunc(list, func(a, b evidence.Observation) bool { return a.Key == b.Key })
}

// put writes a piece and gives its size.
func (w *Window) put(ctx context.Context, at store.RecordKey, part []evidence.Observation) (size int, err error) {
	data, err := encode(part)
	if err == nil {
		_, err = w.store.PutRecord(ctx, store.Record{RecordKey: at, Revision: store.AnyRevision, Data: data})
	}
	return len(data), err
}

// pieces reads the records of a tool, each of which holds observations in order.
func (w *Window) pieces(ctx context.Context, ref memoryd.ToolRef) ([]store.Record, error) {
	const page = 100
	var all []store.Record
	for from := key(ref, ""); ; {
		records, err := w.store.ListRecords(ctx, from, page)
		all = append(all, records...)
		size := 0
		for i := range records {
			size += len(records[i].Data)
		}
		// What is together far below the bound of a page is not cut short by it.
		if err != nil || len(records) == 0 || len(records) < page && size <= store.MaxRecordBytes/4 {
			return all, err
		}
		from.ID = records[len(records)-1].ID
	}
}

// observations are those of a piece; nobody may change them. One that holds other bytes than
// when it was read last is read anew, whoever wrote it.
func (w *Window) observations(ctx context.Context, piece *store.Record) []evidence.Observation {
	if last, ok := w.decoded.Get(piece.RecordKey); ok && bytes.Equal(last.data, piece.Data) {
		return last.list
	}
	list, err := decode(piece.Data)
	if err != nil { // of another form: a later program's, or damaged; the history is what counts
		w.log.WarnContext(ctx, "cannot read observations; they are skipped", "workspace", piece.Workspace, "tool", piece.Tool,
			"record", piece.ID, "err", err)
		return list
	}
	evidence.Digest(list)
	w.decoded.Add(piece.RecordKey, decodedPiece{piece.Data, list})
	return list
}

// Observations implements evidence.Window: it returns the newest observations of a tool,
// oldest first.
func (w *Window) Observations(ctx context.Context, ref memoryd.ToolRef) ([]evidence.Observation, error) {
	w.writing.Lock() // else what is being written is there twice, or not at all
	defer w.writing.Unlock()
	for w.read(ctx) {
	}
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return nil, err
	}
	list := make([]evidence.Observation, 0, (len(pieces)+1)*pieceCalls)
	for i := range pieces {
		list = append(list, w.observations(ctx, &pieces[i])...)
	}
	w.mu.Lock()
	if b := w.fresh[ref]; b != nil {
		for _, ob := range b.list {
			list = append(list, *ob)
		}
	}
	w.mu.Unlock()
	list = inOrder(list)
	return list[max(0, len(list)-w.calls):], nil
}

// writers are for packing pieces.
var writers = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	return z
}}

// readers are for unpacking them.
var readers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// encode makes the piece of observations: packed JSON.
func encode(list []evidence.Observation) ([]byte, error) {
	var b bytes.Buffer
	z := writers.Get().(*flate.Writer) //nolint:forcetypeassert // the pool holds nothing else
	defer writers.Put(z)
	z.Reset(&b)
	err := jsonv2.MarshalWrite(z, list, jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
	err = errors.Join(err, z.Close())
	return b.Bytes(), err
}

// maxPiece bounds what a record unpacks to.
const maxPiece = 16 << 20

func decode(data []byte) ([]evidence.Observation, error) {
	z := readers.Get().(io.ReadCloser) //nolint:forcetypeassert // the pool holds nothing else
	defer readers.Put(z)
	if err := z.(flate.Resetter).Reset(bytes.NewReader(data), nil); err != nil { //nolint:forcetypeassert // it says so
		return nil, err
	}
	var raw bytes.Buffer
	raw.Grow(8 * len(data))
	if _, err := raw.ReadFrom(io.LimitReader(z, maxPiece)); err != nil {
		return nil, err
	}
	var list []evidence.Observation
	err := jsonv2.Unmarshal(raw.Bytes(), &list, jsontext.AllowDuplicateNames(true)) // it is the program's own
	return slices.Clip(list), err
}
