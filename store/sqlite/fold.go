package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"time"

	"memoryd"
)

// Limits of one housekeeping step, so that writers hardly wait.
const (
	foldTools   = 128
	foldEntries = 4096
	purgeRows   = 256
)

// housekeeping is the writer's background work, done in small steps between
// commits: folding the log into state and seen, and deleting purged rows.
type housekeeping struct {
	foldEvery int // fold when the log holds this many records
	wipeTime  time.Duration
	unfolded  int
	young     []youngRow // log rows that are not folded yet, oldest first
	seenRows  entries
	runRows   entries
	fold      *folding
	purges    []purgeRow
	rest      time.Time // no housekeeping before, after it failed
}

// youngRow is a row of log, the identities that it brought, by window position,
// and the runs of its calls.
type youngRow struct {
	id       int64
	records  int
	from, to uint64
	runs     []runEntry
}

// entries is a table whose rows hold entries of one size, each those of some log rows; the newest
// entries are kept.
type entries struct {
	table string
	bytes int // of an entry
	most  int
	rows  []segment // oldest first
}

// segment is a row, named for its newest log row, and how many entries it holds.
type segment struct {
	id int64
	n  int
}

// load calls each for every entry.
func (e *entries) load(ctx context.Context, w *writer, each func([]byte)) error {
	return w.c.query(ctx, `SELECT id, entries FROM `+e.table+` ORDER BY id`, func(v []driver.Value) error {
		id, b := integer(v[0]), blob(v[1])
		if len(b)%e.bytes != 0 {
			return fmt.Errorf("row %d is damaged", id)
		}
		e.rows = append(e.rows, segment{id, len(b) / e.bytes})
		w.lastLog = max(w.lastLog, id)
		for entry := range slices.Chunk(b, e.bytes) {
			each(entry)
		}
		return nil
	})
}

// add writes a row, and deletes the oldest rows that can be missed.
func (e *entries) add(d *draft, id int64, b []byte) error {
	total, gone := len(b)/e.bytes, 0
	rows := append(slices.Clone(e.rows), segment{id, total})
	for _, s := range e.rows {
		total += s.n
	}
	for ; total-rows[gone].n >= e.most && gone < len(e.rows); gone++ {
		total -= rows[gone].n
	}
	d.after = append(d.after, func() { e.rows = rows[gone:] })
	if gone > 0 {
		if err := d.c.exec(`DELETE FROM `+e.table+` WHERE id <= ?`, rows[gone-1].id); err != nil {
			return err
		}
	}
	if e.table == `runs` {
		return d.c.exec(`INSERT INTO runs (id, entries) VALUES (?,?)`, id, b)
	}
	return d.c.exec(`INSERT INTO seen (id, through, entries) VALUES (?,?,?)`, id, id, b)
}

// folding is a fold under way: first the tools, then the log rows up to target.
type folding struct {
	tools  []*tool
	target int64
}

type purgeRow struct {
	id    int64
	slots []int64
}

// busy reports whether there is housekeeping to do.
func (w *writer) busy() bool {
	select {
	case <-w.stop:
		return false // what is left over is done after the next start
	default:
	}
	if w.failed.Load() != nil || !w.rest.IsZero() && time.Now().Before(w.rest) {
		return false
	}
	return w.fold != nil || w.unfolded >= w.foldEvery || len(w.purges) > 0
}

// maintain does one step if there is one to do.
func (w *writer) maintain() {
	if !w.busy() {
		return
	}
	var err error
	switch {
	case len(w.purges) > 0:
		err = w.purgeStep()
	case w.fold == nil:
		w.startFold()
	case len(w.fold.tools) > 0:
		err = w.foldStep()
	default:
		err = w.segmentStep()
	}
	w.rest = time.Time{}
	if err != nil { // logged by update
		w.rest = time.Now().Add(retryAfter)
	}
}

// startFold notes what the fold has to write.
func (w *writer) startFold() {
	f := &folding{target: w.lastLog}
	for _, t := range w.cat.byID {
		if !t.folded {
			f.tools = append(f.tools, t)
		}
	}
	w.fold = f
}

// foldStep brings the state rows of some tools up to date.
func (w *writer) foldStep() error {
	step := w.fold.tools[:min(foldTools, len(w.fold.tools))]
	return w.update(func(d *draft) error {
		for _, t := range step {
			if w.cat.byID[t.id] != t {
				continue // deleted in between
			}
			if err := w.writeState(t, &t.info, w.lastLog); err != nil {
				return err
			}
		}
		d.after = append(d.after, func() {
			for _, t := range step {
				t.folded = true
			}
			w.fold.tools = w.fold.tools[len(step):]
		})
		return nil
	})
}

// segmentStep moves the oldest log rows' identities into a row of seen.
func (w *writer) segmentStep() error {
	rows, entries := 0, uint64(0)
	for _, y := range w.young {
		if y.id > w.fold.target || rows > 0 && entries+(y.to-y.from) > foldEntries {
			break
		}
		rows++
		entries += y.to - y.from
	}
	if rows == 0 {
		w.fold = nil
		return nil
	}
	moved := w.young[:rows]
	through := moved[rows-1].id
	return w.update(func(d *draft) error {
		if err := w.seenRows.add(d, through, w.identities(moved)); err != nil {
			return err
		}
		if runs := runsOf(moved); len(runs) > 0 {
			if err := w.runRows.add(d, through, runs); err != nil {
				return err
			}
		}
		d.after = append(d.after, func() {
			w.young = w.young[rows:]
			for _, y := range moved {
				w.unfolded -= y.records
			}
		})
		return d.c.exec(`DELETE FROM log WHERE id <= ?`, through)
	})
}

// identities collects what the rows brought and the window still holds.
func (w *writer) identities(rows []youngRow) []byte {
	data := make([]byte, 0, identityBytes*(rows[len(rows)-1].to-rows[0].from))
	for _, y := range rows {
		for pos := max(y.from, w.win.first); pos < y.to; pos++ {
			data = w.win.get(pos).appendTo(data)
		}
	}
	return data
}

// writeState writes a tool's row of state, which holds the log up to row mark.
func (w *writer) writeState(t *tool, info *memoryd.Tool, mark int64) error {
	return w.c.exec(`INSERT OR REPLACE INTO state (tool, mark, lifetime, duplicates, revision, modified, slots)
		VALUES (?,?,?,?,?,?,?)`, int64(t.id), mark, info.Lifetime, info.Duplicates, info.Revision,
		info.Modified.UnixMicro(), encodeSlots(t.kept))
}

// writePurges puts rows on the list of those to be deleted.
func (w *writer) writePurges(d *draft, slots []int64) error {
	for len(slots) > 0 {
		w.nextPurge++
		p := purgeRow{id: w.nextPurge, slots: slots[:min(purgeRows, len(slots))]}
		slots = slots[len(p.slots):]
		if err := w.c.exec(`INSERT INTO purge (id, slots) VALUES (?,?)`, p.id, encodeSlots(p.slots)); err != nil {
			return err
		}
		d.after = append(d.after, func() {
			w.purges = append(w.purges, p)
			w.trimLag.Add(int64(len(p.slots)))
		})
	}
	return nil
}

// purgeStep deletes the calls of one purge row, and their bytes in the file.
func (w *writer) purgeStep() error {
	p := w.purges[0]
	return w.update(func(d *draft) error {
		d.wipes = true
		err := d.c.wiping(func() error {
			return d.c.exec(`DELETE FROM calls WHERE id `+inList, listOf(p.slots))
		})
		if err != nil {
			return err
		}
		d.after = append(d.after, func() {
			w.purges = w.purges[1:]
			w.trimLag.Add(-int64(len(p.slots)))
			w.clean.Store(len(w.purges) == 0)
		})
		return d.c.exec(`DELETE FROM purge WHERE id = ?`, p.id)
	})
}
