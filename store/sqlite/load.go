package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"memoryd"
)

// loader fills memory from the file.
type loader struct {
	ctx   context.Context
	w     *writer
	marks map[uint32]int64 // per tool: the newest log row that its state holds
}

// load reads what memory holds: tools, then identities, then what the log adds
// to both, then pending calls. Calls themselves are not read.
func (w *writer) load(ctx context.Context) error {
	l := &loader{ctx: ctx, w: w, marks: map[uint32]int64{}}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"tools", l.tools},
		{"state", l.state},
		{"guidelines", l.guidelines},
		{"seen", l.seen},
		{"runs", l.runs},
		{"log", l.log},
		{"pending", l.pending},
		{"purge", l.purge},
		{"numbers", l.numbers},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("reading %s: %w", step.what, err)
		}
	}
	for _, t := range w.cat.byID {
		t.info.Kept = len(t.kept)
	}
	return nil
}

func (l *loader) query(query string, row func([]driver.Value) error) error {
	return l.w.c.query(l.ctx, query, row)
}

func (l *loader) tools() error {
	return l.query(`SELECT id, workspace, name, created FROM tools ORDER BY id`, func(v []driver.Value) error {
		t := &tool{id: uint32(integer(v[0])), folded: true}
		t.info.ToolRef = memoryd.ToolRef{Workspace: str(v[1]), Tool: str(v[2])}
		t.info.Created = timeOf(v[3])
		l.w.cat.add(t)
		l.w.nextTool = max(l.w.nextTool, t.id)
		return nil
	})
}

func (l *loader) state() error {
	return l.query(`SELECT tool, mark, lifetime, duplicates, revision, modified, slots FROM state`,
		func(v []driver.Value) error {
			t := l.w.cat.byID[uint32(integer(v[0]))]
			if t == nil {
				return fmt.Errorf("tool %d has no name", integer(v[0]))
			}
			l.marks[t.id] = integer(v[1])
			l.w.lastLog = max(l.w.lastLog, integer(v[1]))
			t.info.Lifetime, t.info.Duplicates, t.info.Revision = integer(v[2]), integer(v[3]), integer(v[4])
			t.info.Modified = timeOf(v[5])
			slots, err := decodeSlots(blob(v[6]))
			t.kept = slots
			return err
		})
}

func (l *loader) guidelines() error {
	return l.query(`SELECT `+guidelineColumns+` FROM guidelines`, func(v []driver.Value) error {
		if t := l.w.cat.byID[uint32(integer(v[0]))]; t != nil {
			t.info.Guideline = scanGuideline(v)
		}
		return nil
	})
}

func (l *loader) seen() error {
	return l.w.seenRows.load(l.ctx, l.w, func(b []byte) { l.remember(readIdentity(b)) })
}

func (l *loader) runs() error {
	return l.w.runRows.load(l.ctx, l.w, func(b []byte) { l.w.runs.add(readRunEntry(b)) })
}

func (l *loader) remember(id identity) {
	l.w.win.add(id)
	l.w.nextTool = max(l.w.nextTool, id.tool)
}

func (l *loader) log() error {
	return l.query(`SELECT id, at, records FROM log ORDER BY id`, func(v []driver.Value) error {
		y := youngRow{id: integer(v[0]), from: l.w.win.next}
		err := readRecords(blob(v[2]), func(r record) {
			y.records++
			if r.kind == recordAccepted {
				l.remember(r.id)
			}
			if r.run != 0 {
				y.runs = append(y.runs, runEntry{r.run, r.slot})
				l.w.runs.add(runEntry{r.run, r.slot})
			}
			if t := l.w.cat.byID[r.tool]; t != nil && y.id > l.marks[r.tool] {
				t.replay(&r, timeOf(v[1]))
			}
		})
		y.to = l.w.win.next
		y.records = max(1, y.records)
		l.w.young = append(l.w.young, y)
		l.w.unfolded += y.records
		l.w.lastLog = max(l.w.lastLog, y.id)
		return err
	})
}

// replay does to the tool what the commit that wrote the record did.
func (t *tool) replay(r *record, at time.Time) {
	t.folded = false
	t.kept = t.kept[min(r.dropped, len(t.kept)):]
	switch r.kind {
	case recordAccepted:
		t.kept = append(t.kept, r.slot)
		t.info.Lifetime++
		if r.repeat {
			t.info.Duplicates++
		}
	case recordTrimmed:
		return
	}
	t.info.Revision++
	t.info.Modified = at
}

func (l *loader) pending() error {
	return l.query(`SELECT id, tool, slot, seq, key, not_before FROM pending ORDER BY id`, func(v []driver.Value) error {
		p := &pendingCall{
			id: integer(v[0]), tool: uint32(integer(v[1])), slot: integer(v[2]), seq: integer(v[3]),
			notBefore: timeOf(v[5]),
		}
		copy(p.key[:], blob(v[4]))
		l.w.nextPending = max(l.w.nextPending, p.id)
		t := l.w.cat.byID[p.tool]
		if t == nil {
			return fmt.Errorf("row %d belongs to no tool", p.id)
		}
		t.info.Pending++
		l.w.pend.add(p)
		return nil
	})
}

func (l *loader) purge() error {
	return l.query(`SELECT id, slots FROM purge ORDER BY id`, func(v []driver.Value) error {
		slots, err := decodeSlots(blob(v[1]))
		l.w.purges = append(l.w.purges, purgeRow{id: integer(v[0]), slots: slots})
		l.w.trimLag.Add(int64(len(slots)))
		l.w.nextPurge = max(l.w.nextPurge, integer(v[0]))
		return err
	})
}

// numbers sees to it that no number that is in use is given again.
func (l *loader) numbers() (err error) {
	if l.w.nextSlot, err = l.w.c.number(`SELECT max(id) FROM calls`); err != nil {
		return err
	}
	l.w.nextVerdict, err = l.w.c.number(`SELECT max(id) FROM verdicts`)
	return err
}

// A row of log holds records, one after another. Replaying them over the rows
// of state gives what memory held when the last commit was done.
const (
	recordAccepted = 'A' // flags, row of the call, how many left the history before it, identity, run
	recordVerdict  = 'V' // tool
	recordTrimmed  = 'T' // tool, how many left the history
)

// The flags of an accepted call: it is a repeat; it is of a run.
const (
	flagRepeat = 1
	flagRun    = 2
)

// record is one change to a tool.
type record struct {
	kind    byte
	tool    uint32
	repeat  bool
	slot    int64
	dropped int
	id      identity // of an accepted call
	run     uint64   // its run's fingerprint; 0 is none
}

func (r *record) appendTo(b []byte) []byte {
	b = append(b, r.kind)
	switch r.kind {
	case recordAccepted:
		flags := byte(0)
		if r.repeat {
			flags = flagRepeat
		}
		if r.run != 0 {
			flags |= flagRun
		}
		b = append(b, flags)
		b = binary.AppendVarint(b, r.slot)
		b = binary.AppendUvarint(b, uint64(r.dropped))
		b = r.id.appendTo(b)
		if r.run != 0 {
			b = binary.LittleEndian.AppendUint64(b, r.run)
		}
		return b
	case recordTrimmed:
		b = binary.AppendUvarint(b, uint64(r.tool))
		return binary.AppendUvarint(b, uint64(r.dropped))
	}
	return binary.AppendUvarint(b, uint64(r.tool))
}

// readRecords calls each for every record of a log row.
func readRecords(b []byte, each func(record)) error {
	for len(b) > 0 {
		r := record{kind: b[0]}
		d := decoder{b: b[1:]}
		switch r.kind {
		case recordAccepted:
			flags := d.take(1)[0]
			r.repeat = flags&flagRepeat != 0
			r.slot = d.varint()
			r.dropped = int(d.uvarint())
			r.id = readIdentity(d.take(identityBytes))
			r.tool = r.id.tool
			if flags&flagRun != 0 {
				r.run = binary.LittleEndian.Uint64(d.take(8))
			}
		case recordTrimmed:
			r.tool = uint32(d.uvarint())
			r.dropped = int(d.uvarint())
		case recordVerdict:
			r.tool = uint32(d.uvarint())
		default:
			d.bad = true
		}
		if d.bad {
			return errors.New("the log is damaged")
		}
		each(r)
		b = d.b
	}
	return nil
}

// decoder reads fields one after another; bad says that one was cut.
type decoder struct {
	b   []byte
	bad bool
}

// take gives the next n bytes; zeros where there are not so many.
func (d *decoder) take(n int) (part []byte) {
	if n <= 0 || n > len(d.b) {
		d.bad = true
		return make([]byte, identityBytes)
	}
	part, d.b = d.b[:n], d.b[n:]
	return part
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	d.take(n)
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.take(n)
	return v
}
