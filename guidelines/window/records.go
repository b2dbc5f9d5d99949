package window

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	"memoryd/store"
)

// recordKind is the kind of the records.
const recordKind = "observations"

// Kinds are the kinds of the records that this package keeps with tools.
func Kinds() []string { return []string{recordKind} }

// piece is a record: observations in order, compressed JSON.
type piece struct {
	id   string
	list []evidence.Observation
	size int
}

func key(ref memoryd.ToolRef, id string) store.RecordKey {
	return store.RecordKey{ToolRef: ref, Kind: recordKind, ID: id}
}

// fold writes what waits: of tools with many observations, or old ones; of all
// tools for all.
func (w *Window) fold(ctx context.Context, all bool) error {
	w.writing.Lock()
	defer w.writing.Unlock()
	for all && w.read(maxFresh) {
	}
	w.mu.Lock()
	due := map[memoryd.ToolRef][]*evidence.Observation{}
	for ref, b := range w.fresh {
		if all || len(b.list) >= foldCalls || w.now().Sub(b.since) >= foldAge || w.waiting > maxFresh {
			due[ref] = b.list
		}
	}
	w.mu.Unlock()
	for ref, list := range due {
		err := w.write(ctx, ref, list)
		if err != nil && !memoryd.IsKind(err, memoryd.NotFound) {
			return fmt.Errorf("observations of %q: %w", ref.Tool, err)
		}
		w.written(ref, len(list))
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
		delete(w.pending, ob.Key)
	}
	w.waiting -= n
	if b.list = b.list[n:]; len(b.list) == 0 {
		delete(w.fresh, ref)
		return
	}
	b.since = w.now()
}

// write adds observations to the tool's records and lets the oldest go.
func (w *Window) write(ctx context.Context, ref memoryd.ToolRef, list []*evidence.Observation) error {
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return err
	}
	w.mu.Lock()
	added := make([]evidence.Observation, len(list))
	for i, ob := range list {
		added[i] = *ob // a verdict may come while it is written
	}
	w.mu.Unlock()
	if n := len(pieces); n > 0 && len(pieces[n-1].list) < pieceCalls {
		added = append(pieces[n-1].list, added...)
		pieces = pieces[:n-1]
	}
	calls, size := len(added), 0
	for part := range slices.Chunk(added, pieceCalls) {
		data, err := encode(part)
		if err != nil {
			return err
		}
		size += len(data)
		id := fmt.Sprintf("%016d", part[0].Seq)
		if _, err := w.store.PutRecord(ctx, store.Record{RecordKey: key(ref, id), Revision: store.AnyRevision, Data: data}); err != nil {
			return err
		}
	}
	for _, piece := range slices.Backward(pieces) {
		if calls >= w.calls || size > maxToolBytes {
			if err := w.store.DeleteRecord(ctx, key(ref, piece.id)); err != nil {
				return err
			}
			continue
		}
		calls, size = calls+len(piece.list), size+piece.size
	}
	return nil
}

// pieces reads the records of a tool.
func (w *Window) pieces(ctx context.Context, ref memoryd.ToolRef) ([]piece, error) {
	var all []piece
	for from := key(ref, ""); ; {
		records, err := w.store.ListRecords(ctx, from, 100)
		if err != nil || len(records) == 0 {
			return all, err
		}
		for _, r := range records {
			list, err := decode(r.Data)
			if err != nil { // of another form: a later program's, or damaged; the history is what counts
				w.log.WarnContext(ctx, "observations cannot be read and are left out", "workspace", ref.Workspace, "tool", ref.Tool, "record", r.ID, "err", err)
			}
			all = append(all, piece{r.ID, list, len(r.Data)})
			from.ID = r.ID
		}
	}
}

// Observations implements guidelines.Window: the newest of a tool, oldest first.
func (w *Window) Observations(ctx context.Context, ref memoryd.ToolRef) ([]evidence.Observation, error) {
	w.writing.Lock() // else what is being written is there twice, or not at all
	defer w.writing.Unlock()
	for w.read(maxFresh) {
	}
	pieces, err := w.pieces(ctx, ref)
	if err != nil {
		return nil, err
	}
	var list []evidence.Observation
	for _, p := range pieces {
		list = append(list, p.list...)
	}
	w.mu.Lock()
	if b := w.fresh[ref]; b != nil {
		for _, ob := range b.list {
			list = append(list, *ob)
		}
	}
	w.mu.Unlock()
	slices.SortStableFunc(list, func(a, b evidence.Observation) int { return cmp.Compare(a.Seq, b.Seq) })
	return list[max(0, len(list)-w.calls):], nil
}

func encode(list []evidence.Observation) ([]byte, error) {
	raw, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(raw); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// maxPiece bounds what a record unpacks to.
const maxPiece = 16 << 20

func decode(data []byte) ([]evidence.Observation, error) {
	z := flate.NewReader(bytes.NewReader(data))
	raw, err := io.ReadAll(io.LimitReader(z, maxPiece))
	if err != nil {
		return nil, err
	}
	var list []evidence.Observation
	return list, json.Unmarshal(raw, &list)
}
