package sqlite

import (
	"encoding/binary"
	"errors"
)

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
			flags := d.byte()
			r.repeat = flags&flagRepeat != 0
			r.slot = d.varint()
			r.dropped = int(d.uvarint())
			r.id = d.identity()
			r.tool = r.id.tool
			if flags&flagRun != 0 {
				r.run = d.uint64()
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

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.bad = true
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.skip(n)
	return v
}

func (d *decoder) skip(n int) {
	if n <= 0 {
		d.bad = true
		return
	}
	d.b = d.b[n:]
}

func (d *decoder) uint64() (n uint64) {
	if len(d.b) < 8 {
		d.bad = true
		return 0
	}
	n = binary.LittleEndian.Uint64(d.b)
	d.b = d.b[8:]
	return n
}

func (d *decoder) identity() (id identity) {
	if len(d.b) < identityBytes {
		d.bad = true
		return id
	}
	id = readIdentity(d.b)
	d.b = d.b[identityBytes:]
	return id
}
