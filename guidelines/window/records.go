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

// fold writes what waits: of tools with old observations, or of all tools for all or where too
// many wait, everything; of others what fills pieces.
func (w *Window) fold(ctx context.Context, all bool) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	for all && w.read() {
	}
	w.mu.Lock()
	all = all || w.waiting > maxFresh
	due, even := map[memoryd.ToolRef][]*evidence.Observation{}, map[memoryd.ToolRef]bool{}
	for ref, b := range w.fresh {
		if even[ref] = !all && w.now().Sub(b.since) < foldAge; !even[ref] || len(b.list) >= pieceCalls {
			due[ref] = b.list
		}
	}
	w.mu.Unlock()
	for ref, list := range due {
		n, err := w.write(ctx, ref, list, even[ref])
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return fmt.Errorf("observations of %q: %w", ref.Tool, err)
		}
		w.written(ref, n)
	}
	return nil
}

// written drops the first n of what waited of a tool.
func (w *Window) written(ref memoryd.ToolRef, n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.fresh[ref]
	if b == nil {
		return // deleted meanwhile
	}
	for _, ob := range b.list[:n] {
		delete(w.late, ob.Key)
	}
	w.waiting -= n
	if b.list = slices.Clone(b.list[n:]); len(b.list) == 0 { // the old array keeps what was written
		delete(w.fresh, ref)
		return
	}
	b.since = w.now()
}

// write adds observations to the tool's records, lets the oldest go and says how many
// of the list it needs no more. If even, it leaves those that fill no piece: whoever
// writes much packs each observation once.
func (w *Window) write(ctx context.Context, ref memoryd.ToolRef, list []*evidence.Observation, even bool) (int, error) {
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return len(list), err
	}
	var added []evidence.Observation
	id := ""
	before := fmt.Sprintf("%016d", list[0].Seq-pieceCalls)   // a piece with this name is full
	if n := len(pieces); n > 0 && pieces[n-1].ID != before { // all before the last one are full
		if last := w.observations(ctx, &pieces[n-1]); len(last) < pieceCalls {
			added, pieces, id = last, pieces[:n-1], pieces[n-1].ID
		}
	}
	if even {
		list = list[:len(list)-(len(added)+len(list))%pieceCalls]
	}
	w.mu.Lock()
	newest := list[max(0, len(list)-w.calls):]
	added = slices.Grow(added, len(newest))
	for _, ob := range newest {
		added = append(added, *ob)
	}
	w.mu.Unlock()
	calls, size := len(added), 0
	for part := range slices.Chunk(added, pieceCalls) {
		n, err := w.put(ctx, key(ref, cmp.Or(id, fmt.Sprintf("%016d", part[0].Seq))), part)
		if err != nil {
			return len(list), err
		}
		size, id = size+n, ""
	}
	for _, piece := range slices.Backward(pieces) {
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
	for w.read() {
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
	evidence.Sort(list)
	return list[max(0, len(list)-w.calls):], nil
}

// writers are for packing pieces.
var writers = sync.Pool{New: func() any {
	z, _ := flate.NewWriter(nil, flate.BestSpeed) // the level is a valid one
	return z
}}

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
	var raw bytes.Buffer
	raw.Grow(8 * len(data))
	if _, err := raw.ReadFrom(io.LimitReader(flate.NewReader(bytes.NewReader(data)), maxPiece)); err != nil {
		return nil, err
	}
	list := make([]evidence.Observation, 0, pieceCalls)
	err := jsonv2.Unmarshal(raw.Bytes(), &list, jsontext.AllowDuplicateNames(true)) // it is the program's own
	return slices.Clip(list), err
}
