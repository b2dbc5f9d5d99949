package sqlite

import (
	"context"
	"database/sql/driver"
	"slices"

	"memoryd"
	"memoryd/store"
)

// History implements store.Calls.
func (s *backend) History(ctx context.Context, ref memoryd.ToolRef, limit int) ([]memoryd.Call, error) {
	return s.readCalls(ctx, ref, 0, limit, callColumns)
}

// pageRows is how many whole calls are read at once: a page that is full of long
// texts holds hardly more than it may.
const pageRows = 16

// ListCalls implements store.Calls.
func (s *backend) ListCalls(ctx context.Context, ref memoryd.ToolRef, p store.CallPage) ([]memoryd.Call, error) {
	columns, rows := callColumns, pageRows
	if p.Brief {
		columns, rows = briefColumns, 16*pageRows
	}
	var out []memoryd.Call
	size, before := 0, p.Before
	for len(out) < p.Limit {
		part, err := s.readCalls(ctx, ref, before, min(rows, p.Limit-len(out)), columns)
		if err != nil {
			return nil, err
		}
		for i := range slices.Backward(part) {
			if size += store.TextBytes(&part[i]); size > store.MaxPageBytes && len(out) > 0 {
				return out, nil
			}
			out = append(out, part[i])
		}
		if len(part) == 0 || part[0].Seq == 1 {
			break
		}
		before = part[0].Seq
	}
	return out, nil
}

// readCalls reads the newest calls below a number, oldest first.
func (s *backend) readCalls(ctx context.Context, ref memoryd.ToolRef, before int64, limit int, columns string) ([]memoryd.Call, error) {
	return settled(s, func() (out []memoryd.Call, err error) {
		v, ok := s.cat.view(ref, before, limit)
		if !ok || len(v.slots) == 0 {
			return nil, nil
		}
		out = make([]memoryd.Call, len(v.slots))
		place := make(map[int64]int, len(v.slots))
		for i, slot := range v.slots {
			place[slot] = i
		}
		found := 0
		err = s.readView(ctx, &v, columns, nil, func(row []driver.Value) error {
			i := place[integer(row[rowID])]
			if integer(row[rowTool]) != int64(v.tool) || integer(row[rowSeq]) != v.firstSeq+int64(i) {
				return errMoved
			}
			out[i], err = scanCall(row)
			out[i].ToolRef = v.ref
			found++
			return err
		})
		if err == nil && found < len(out) {
			err = errMoved
		}
		return out, err
	})
}

// Call implements store.Calls. Keys have no index: it compares the keys in the rows of the
// history, which come before the texts.
func (s *backend) Call(ctx context.Context, ref memoryd.ToolRef, key memoryd.CallKey) (memoryd.Call, error) {
	return settled(s, func() (c memoryd.Call, err error) {
		v, ok := s.cat.view(ref, 0, 0)
		if !ok {
			return c, store.UnknownCall()
		}
		err = s.readView(ctx, &v, callColumns, key[:], func(row []driver.Value) (err error) {
			if integer(row[rowTool]) == int64(v.tool) {
				c, err = scanCall(row)
				c.ToolRef = v.ref
			}
			return err
		})
		if err == nil && c.Seq == 0 {
			err = store.UnknownCall()
		}
		return c, err
	})
}

// settled reads as one consistent picture. Memory says which rows are whose; a
// commit between looking there and reading the file shows, and then the reading is
// done again with commits waiting.
func settled[T any](s *backend, read func() (T, error)) (T, error) {
	v, err := read()
	if err != errMoved { //nolint:errorlint // never wrapped
		return v, err
	}
	s.w.writing.Lock()
	defer s.w.writing.Unlock()
	if v, err = read(); err == errMoved { //nolint:errorlint // never wrapped
		err = memoryd.Errorf(memoryd.Internal, "the history of a tool is inconsistent")
	}
	return v, err
}

// errMoved says that the rows are not those that memory spoke of.
var errMoved = memoryd.Errorf(memoryd.Internal, "the rows moved")

// readView reads the rows of a view as readRows does. It fails with errMoved when
// verdicts may be ahead of memory.
func (s *backend) readView(ctx context.Context, v *view, columns string, key driver.Value, row func([]driver.Value) error) error {
	if v.rewrites%2 == 1 {
		return errMoved
	}
	err := s.readRows(ctx, columns, v.slots, key, row)
	if err == nil && s.cat.rewrites(v.tool) != v.rewrites {
		err = errMoved
	}
	return err
}

// Described implements store.Calls.
func (s *backend) Described(ctx context.Context, ref memoryd.ToolRef) (d store.Description, err error) {
	if d.Tool, err = s.Tool(ctx, ref); err == nil {
		d.Samples, err = s.samples(ctx, ref)
	}
	return d, err
}

// samples reads those of a tool. A recently used tool is answered from memory.
func (s *backend) samples(ctx context.Context, ref memoryd.ToolRef) ([]memoryd.Sample, error) {
	if cached, ok := s.cat.samples(ref, s.w.samples); ok {
		return cached, nil
	}
	return settled(s, func() ([]memoryd.Sample, error) {
		v, ok := s.cat.view(ref, 0, 0)
		if !ok {
			return nil, nil
		}
		read := make([]memoryd.Sample, len(v.slots))
		err := s.readRows(ctx, sampleColumns, v.slots, nil, func(row []driver.Value) error {
			i := integer(row[rowSeq]) - v.firstSeq
			if integer(row[rowTool]) == int64(v.tool) && i >= 0 && i < int64(len(read)) {
				read[i] = scanSample(row)
			}
			return nil
		})
		if err == nil && (slices.ContainsFunc(read, func(r memoryd.Sample) bool { return r.Seq == 0 }) || !s.cat.keep(&v, s.w.samples, read)) {
			err = errMoved
		}
		return read, err
	})
}

// HistorySize implements store.Calls.
func (s *backend) HistorySize(ctx context.Context, ref memoryd.ToolRef) (store.Size, error) {
	v, ok := s.cat.view(ref, 0, 0)
	size := store.Size{Count: int64(len(v.slots))}
	if !ok || size.Count == 0 {
		return size, nil
	}
	err := s.readRows(ctx, bytesColumns, v.slots, nil, func(row []driver.Value) error {
		size.Bytes += textBytes(row)
		return nil
	})
	return size, err
}

// readRows reads columns of calls by row, in any order, from one snapshot; with a key
// only those that have it.
func (s *backend) readRows(ctx context.Context, columns string, slots []int64, key driver.Value, row func([]driver.Value) error) error {
	return s.read(ctx, func(c *conn) error {
		return c.query(ctx, `SELECT `+columns+` FROM calls WHERE id `+inList+` AND (? IS NULL OR key = ?)`, row, listOf(slots), key, key)
	})
}

// read lends f a reading connection.
func (s *backend) read(ctx context.Context, f func(*conn) error) error {
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return store.Ended(ctx)
	}
	defer func() { s.readers <- c }()
	err := f(c)
	if err == nil {
		return nil
	}
	if cerr := store.Ended(ctx); cerr != nil {
		return cerr
	}
	if memoryd.IsKind(err, memoryd.Internal) {
		return err
	}
	return unavailable(err)
}
