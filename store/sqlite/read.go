package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/json"

	"memoryd"
	"memoryd/store"
)

// History implements store.Calls.
func (s *Store) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := store.CheckLimit(limit); err != nil {
		return nil, err
	}
	var out []memoryd.Call
	_, err := s.readTool(ctx, ref, limit, callColumns, func(v *view) func(int, []driver.Value) {
		out = make([]memoryd.Call, len(v.slots))
		return func(i int, row []driver.Value) {
			out[i] = scanCall(row)
			out[i].ToolRef = v.ref
		}
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Samples implements store.Calls. A tool asked for lately is answered from
// memory.
func (s *Store) Samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if out, ok := s.cachedSamples(ref); ok {
		return out, nil
	}
	return s.loadSamples(ctx, ref)
}

func (s *Store) cachedSamples(ref memoryd.ToolRef) ([]memoryd.Sample, bool) {
	s.cat.mu.RLock()
	t := s.cat.byRef[ref]
	s.cat.mu.RUnlock()
	if t == nil {
		return nil, true
	}
	return s.w.samples.get(t.id)
}

// loadSamples reads a tool's samples and leaves them in memory. Commits wait
// meanwhile, else one between the reading and the leaving would be missed.
func (s *Store) loadSamples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	s.w.gate.Lock()
	defer s.w.gate.Unlock()
	var out []memoryd.Sample
	v, err := s.readView(ctx, ref, 0, sampleColumns, func(v *view) func(int, []driver.Value) {
		out = make([]memoryd.Sample, len(v.slots))
		return func(i int, row []driver.Value) { out[i] = scanSample(row) }
	})
	if err != nil {
		return nil, err
	}
	if v.tool != 0 {
		s.w.samples.put(v.tool, out)
	}
	return out, nil
}

// readTool reads rows of a tool's kept calls as one consistent picture. Memory
// says which rows these are. A commit between looking there and reading the
// file shows in the rows; then the reading is done again with commits waiting.
func (s *Store) readTool(ctx context.Context, ref memoryd.ToolRef, limit int, columns string,
	into func(*view) func(i int, row []driver.Value),
) (view, error) {
	v, err := s.readView(ctx, ref, limit, columns, into)
	if err != errMoved { //nolint:errorlint // never wrapped
		return v, err
	}
	s.w.gate.Lock()
	defer s.w.gate.Unlock()
	v, err = s.readView(ctx, ref, limit, columns, into)
	if err == errMoved { //nolint:errorlint // never wrapped
		err = memoryd.Errorf(memoryd.Internal, "the history of a tool is not what it should be")
	}
	return v, err
}

// errMoved says that the rows are not those that memory spoke of.
var errMoved = memoryd.Errorf(memoryd.Internal, "the rows moved")

// readView is one try of readTool.
func (s *Store) readView(ctx context.Context, ref memoryd.ToolRef, limit int, columns string,
	into func(*view) func(i int, row []driver.Value),
) (view, error) {
	v, ok := s.cat.view(ref, limit)
	if !ok || len(v.slots) == 0 {
		return v, nil
	}
	if v.rewrites%2 == 1 {
		return v, errMoved
	}
	put := into(&v)
	place := make(map[int64]int, len(v.slots))
	for i, slot := range v.slots {
		place[slot] = i
	}
	found := 0
	err := s.readRows(ctx, columns, v.slots, func(row []driver.Value) error {
		i := place[integer(row[rowID])]
		if integer(row[rowTool]) != int64(v.tool) || integer(row[rowSeq]) != v.firstSeq+int64(i) {
			return errMoved
		}
		put(i, row)
		found++
		return nil
	})
	if err == nil && (found < len(v.slots) || s.cat.rewrites(v.tool) != v.rewrites) {
		err = errMoved
	}
	return v, err
}

// readRows reads columns of calls by row, in any order, from one snapshot.
func (s *Store) readRows(ctx context.Context, columns string, slots []int64, row func([]driver.Value) error) error {
	ids, err := json.Marshal(slots)
	if err != nil {
		return err
	}
	return s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT `+columns+` FROM calls WHERE id IN (SELECT value FROM json_each(?))`, row, string(ids))
	})
}

// read lends f a reading connection.
func (s *Store) read(ctx context.Context, f func(*conn) error) error {
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return ended(ctx)
	}
	defer func() { s.readers <- c }()
	err := f(c)
	if err == nil {
		return nil
	}
	if cerr := ended(ctx); cerr != nil {
		return cerr
	}
	if memoryd.IsKind(err, memoryd.Internal) {
		return err
	}
	return unavailable(err)
}
