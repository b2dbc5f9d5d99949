package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"memoryd"
	"memoryd/store"
)

// Report is the result of Check.
type Report struct {
	// Faults describe the damage; empty if there is none.
	Faults []string
	// Tools, Calls and Records count what can be read, and LostCalls the calls that cannot.
	Tools, Calls, Records, LostCalls int
	// Repaired reports that the store was rebuilt from what can be read. Aside is the old file.
	Repaired bool
	Aside    string
}

func (r *Report) fault(format string, values ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, values...))
}

// Check reads the whole store in cfg.Dir, which no process may use, and reports damage. With
// repair, it rebuilds a damaged store from everything that can be read, and keeps the old file. It
// returns an error if it cannot read the folder.
func Check(ctx context.Context, cfg Config, repair bool, log *slog.Logger) (r Report, err error) {
	path := filepath.Join(cfg.Dir, fileName)
	if _, err := os.Stat(cfg.Dir); err != nil {
		return r, err
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if err := checkPlace(path, lock); err != nil {
		r.fault("%v", err)
	}
	if _, err := os.Stat(path); err != nil {
		return r, err
	}
	if err := checkHeader(path); err != nil {
		r.fault("%v", err)
	}
	if err := r.pages(path); err != nil {
		return r, err
	}
	c, err := connect(path)
	if err != nil {
		r.fault("it cannot be opened: %v", err)
		return r, nil
	}
	defer func() { err = errors.Join(err, c.close()) }()
	r.loads(ctx, cfg, c, lock)
	s := salvage{ctx: ctx, c: c, r: &r, names: map[int64]memoryd.Tool{}}
	s.read()
	if !repair || len(r.Faults) == 0 {
		return r, nil
	}
	return r, s.rebuild(cfg, path, lock, log)
}

// pages compares the checksums of all pages of the file. Those that the write-ahead log
// holds as well may be torn: it mends them.
func (r *Report) pages(path string) error {
	if sums, err := summed(path); err != nil || !sums {
		return err
	}
	f, err := os.Open(path) //nolint:gosec // the store's own file
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	var bad []int64
	page := make([]byte, pageSize)
	for number := int64(1); ; number++ {
		if _, err := io.ReadFull(f, page); errors.Is(err, io.EOF) {
			break
		} else if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		if !soundPage(page, number) {
			bad = append(bad, number)
		}
	}
	if len(bad) > 0 && sizeOf(path+"-wal") == 0 {
		r.fault("%d of its pages are damaged, the first is page %d", len(bad), bad[0])
	}
	return nil
}

// loads reads what a start reads, and compares the commit counter.
func (r *Report) loads(ctx context.Context, cfg Config, c *conn, lock *dirLock) {
	w := newWriter(cfg, slog.New(slog.DiscardHandler))
	w.c = c
	if err := w.load(ctx); err != nil {
		r.fault("it cannot be started: %v", err)
		return
	}
	if err := w.checkCounter(lock); err != nil {
		r.fault("%v", err)
	}
}

// salvage reads row by row what can be read.
type salvage struct {
	ctx   context.Context
	c     *conn
	r     *Report
	names map[int64]memoryd.Tool // by the numbers of tools
	rows  map[int64][]keptRow    // of calls, by the numbers of their tools
	notes []int64                // rows of records
}

type keptRow struct{ seq, id int64 }

// each calls row for all rows of a table, one query each, and counts those that cannot be
// read.
func (s *salvage) each(table, columns string, row func([]driver.Value)) (lost int) {
	last, err := s.c.number(`SELECT max(rowid) FROM ` + table)
	if err != nil {
		s.r.fault("the table of %s is damaged at its end: %v", table, err)
		last = 1 << 16
	}
	for id := int64(1); id <= last && s.ctx.Err() == nil; id++ {
		err := s.c.query(s.ctx, `SELECT `+columns+` FROM `+table+` WHERE rowid = ?`, func(v []driver.Value) error { row(v); return nil }, id)
		if err != nil {
			lost++
		}
	}
	if lost > 0 {
		s.r.fault("%d rows of the table of %s cannot be read", lost, table)
	}
	return lost
}

// read finds what there is.
func (s *salvage) read() {
	s.rows = map[int64][]keptRow{}
	s.each("tools", "id, workspace, name, created", func(v []driver.Value) {
		t := memoryd.Tool{ToolRef: memoryd.ToolRef{Workspace: str(v[1]), Tool: str(v[2])}, Created: timeOf(v[3])}
		t.Modified = t.Created
		s.names[integer(v[0])] = t
	})
	s.each("state", "tool, lifetime, duplicates, revision, modified", func(v []driver.Value) {
		t := s.names[integer(v[0])]
		t.Lifetime, t.Duplicates, t.Revision, t.Modified = integer(v[1]), integer(v[2]), integer(v[3]), timeOf(v[4])
		s.names[integer(v[0])] = t
	})
	s.each("guidelines", guidelineColumns, func(v []driver.Value) {
		t := s.names[integer(v[0])]
		t.Guideline = scanGuideline(v)
		s.names[integer(v[0])] = t
	})
	s.r.LostCalls = s.each("calls", callColumns, func(v []driver.Value) {
		tool := integer(v[rowTool])
		if s.names[tool].Tool != "" {
			s.rows[tool] = append(s.rows[tool], keptRow{integer(v[rowSeq]), integer(v[rowID])})
			s.r.Calls++
		}
	})
	s.each("records", "rowid, data", func(v []driver.Value) { s.notes = append(s.notes, integer(v[0])) })
	s.r.Tools, s.r.Records = len(s.rows), len(s.notes)
}

// rebuild makes the store anew.
func (s *salvage) rebuild(cfg Config, path string, lock *dirLock, log *slog.Logger) (err error) {
	dir, err := os.MkdirTemp(cfg.Dir, "repair-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	fresh := cfg
	fresh.Dir = dir
	target, err := Open(s.ctx, fresh, log)
	if err != nil {
		return err
	}
	target.Start(s.ctx)
	err = s.copyTo(target)
	if err = errors.Join(err, target.Close()); err != nil {
		return err
	}
	s.r.Aside = path + ".damaged"
	for _, end := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+end, s.r.Aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.Rename(filepath.Join(dir, fileName), path); err != nil {
		return err
	}
	made, err := os.ReadFile(filepath.Join(dir, "lock")) //nolint:gosec // made above
	if err == nil {
		_, err = lock.f.WriteAt(made, 0)
	}
	if err = errors.Join(err, lock.f.Truncate(int64(len(made))), syncDir(cfg.Dir)); err == nil {
		s.r.Repaired = true
	}
	return err
}

// copyTo brings the tools and the records into a new store.
func (s *salvage) copyTo(target store.Store) error {
	for number, rows := range s.rows {
		t := s.names[number]
		slices.SortFunc(rows, func(a, b keptRow) int { return cmp.Compare(a.seq, b.seq) })
		rows = slices.CompactFunc(rows, func(a, b keptRow) bool { return a.seq == b.seq })
		var calls []memoryd.Call
		for _, row := range rows {
			if err := s.c.query(s.ctx, `SELECT `+callColumns+` FROM calls WHERE id = ?`, func(v []driver.Value) error {
				c, err := scanCall(v)
				if c.ToolRef = t.ToolRef; err == nil {
					calls = append(calls, c)
				}
				return err
			}, row.id); err != nil {
				s.r.fault("a call of tool %q is not kept: %v", t.Tool, err)
			}
		}
		t.Lifetime, t.Revision = max(t.Lifetime, rows[len(rows)-1].seq), max(t.Revision, 1)
		if err := target.RestoreTool(s.ctx, t, calls); err != nil {
			s.r.fault("tool %q of workspace %q is not kept: %v", t.Tool, t.Workspace, err)
		}
	}
	for _, row := range s.notes {
		err := s.c.query(s.ctx, `SELECT `+recordColumns+` FROM records WHERE rowid = ?`,
			func(v []driver.Value) error {
				r := scanRecord(v)
				return target.PutRecords(s.ctx, []store.Record{r})
			}, row)
		if err := memoryd.Except(err, memoryd.NotFound); err != nil {
			s.r.fault("a record is not kept: %v", err)
		}
	}
	return s.ctx.Err()
}
