package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"

	"memoryd"
	"memoryd/store"
)

// maxRunEntries is of how many of the newest calls that name a run the index
// knows it: 40 bytes of memory each.
const maxRunEntries = 1 << 17

// maxRunSteps bounds how far a look-up goes back in one run.
const maxRunSteps = 16 * store.MaxRunCalls

// runEntry says that the call accepted into a row was one of a run. The row may
// hold another call by now, so who reads it looks at the call's metadata.
type runEntry struct {
	run  uint64 // fingerprint of workspace and run, never 0
	slot int64
}

// runEntryBytes is the size of an entry on disk.
const runEntryBytes = 16

func readRunEntry(b []byte) runEntry {
	return runEntry{binary.LittleEndian.Uint64(b), int64(binary.LittleEndian.Uint64(b[8:]))}
}

// runsOf collects the entries of some log rows as a row of runs.
func runsOf(rows []youngRow) (data []byte) {
	for _, y := range rows {
		for _, e := range y.runs {
			data = binary.LittleEndian.AppendUint64(data, e.run)
			data = binary.LittleEndian.AppendUint64(data, uint64(e.slot))
		}
	}
	return data
}

// runPrint is the same in every process, for it is stored; 0 is no run.
func runPrint(workspace, run string) uint64 {
	if run == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(workspace + "\x00" + run))
	return max(1, binary.LittleEndian.Uint64(sum[:]))
}

// runIndex finds the rows of a run's newest calls: the newest entries in a ring,
// each with the position of the one before it of the same run.
type runIndex struct {
	size    uint64
	next    uint64 // position of the next entry, from 1
	entries []linkedRun
	newest  map[uint64]uint64 // by run
}

type linkedRun struct {
	runEntry
	before uint64 // position; 0: none
}

func newRunIndex(size int) *runIndex {
	return &runIndex{size: uint64(size), next: 1, newest: map[uint64]uint64{}}
}

// add enters the newest call, and forgets the oldest when the index is full.
func (x *runIndex) add(e runEntry) {
	at := (x.next - 1) % x.size
	if at == uint64(len(x.entries)) {
		x.entries = append(x.entries, linkedRun{})
	} else if old := x.entries[at].run; x.newest[old] == x.next-x.size {
		delete(x.newest, old)
	}
	x.entries[at] = linkedRun{e, x.newest[e.run]}
	x.newest[e.run] = x.next
	x.next++
}

// slots gives the rows of a run's calls, the newest first, each once.
func (x *runIndex) slots(run uint64) []int64 {
	var out []int64
	met := map[int64]bool{}
	steps := 0
	for pos := x.newest[run]; pos > 0 && pos+x.size >= x.next && steps < maxRunSteps; steps++ {
		e := x.entries[(pos-1)%x.size]
		if !met[e.slot] {
			met[e.slot] = true
			out = append(out, e.slot)
		}
		pos = e.before
	}
	return out
}

// runColumns is what a RunCall needs, and the metadata to see that it is of the run: reading all of
// a call takes longer.
const runColumns = `id, tool, success, state, score, time, key, metadata, input, output`

// RunCalls implements store.Calls.
func (s *backend) RunCalls(ctx context.Context, workspace, run string, limit int) ([]store.RunCall, error) {
	limit = min(limit, store.MaxRunCalls)
	s.cat.mu.RLock()
	slots := s.w.runs.slots(runPrint(workspace, run))
	s.cat.mu.RUnlock()
	var out []store.RunCall
	for len(out) < limit && len(slots) > 0 {
		part := slots[:min(len(slots), limit-len(out))]
		slots = slots[len(part):]
		found := make([]*store.RunCall, len(part))
		err := s.readRows(ctx, runColumns, part, nil, func(row []driver.Value) error {
			if ref, ok := s.cat.ref(uint32(integer(row[1]))); ok && ref.Workspace == workspace && memoryd.RunOf(rawOf(row[7])) == run {
				c, err := scanRunCall(row)
				c.ToolRef = ref
				found[slices.Index(part, integer(row[0]))] = &c
				return err
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, c := range found {
			if c != nil {
				out = append(out, *c)
			}
		}
	}
	return out, nil
}

func scanRunCall(v []driver.Value) (store.RunCall, error) {
	input, wrong := unpacked(v[8])
	output, err := unpacked(v[9])
	c := memoryd.Call{
		Success: integer(v[2]) != 0, Time: timeOf(v[5]), Evaluation: memoryd.Evaluation{State: stateOf(v[3]), Score: float(v[4])},
		Input: json.RawMessage(rawOf(input)), Output: str(output),
	}
	copy(c.Key[:], blob(v[6]))
	return store.RunCallOf(&c), errors.Join(wrong, err)
}
