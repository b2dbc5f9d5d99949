package sqlite

import (
	"time"

	"memoryd"
)

// draft is what one transaction changes. Memory takes it over after COMMIT and
// never before; a draft of a transaction that failed is dropped.
type draft struct {
	w   *writer
	c   *conn
	now time.Time

	tools   map[memoryd.ToolRef]*toolDraft
	order   []*toolDraft
	keys    map[[16]byte]uint32
	prints  map[uint64]struct{}
	seen    []identity
	runs    []runEntry
	records []byte
	logged  int   // records written
	begun   int64 // how many statements had run before it
	wrote   bool  // it has changed something, and so it has a row of log

	added   map[seqRef]*pendingCall
	settled map[*pendingCall]*memoryd.Evaluation // nil: the call left the history
	retried map[*pendingCall]time.Time
	judged  []judgedCall
	purge   []int64 // rows that left a history and are not overwritten
	after   []func()
	// wipes: the transaction deletes what somebody asked to be gone, and may take the
	// reserve of the disk for it.
	wipes bool
}

// toolDraft is a tool as the transaction sees it.
type toolDraft struct {
	t     *tool
	isNew bool
	info  memoryd.Tool
	// The kept rows are those of t, less the first dropped, with pushed behind.
	dropped int
	pushed  []int64
	// rewrites: the transaction changes verdicts of calls that readers may see.
	rewrites bool
	newer    []memoryd.Sample // of pushed, also of those dropped again
	// The batches that made the tool, and that came to it last.
	madeBy, touchedBy *appending
}

func (w *writer) newDraft() *draft {
	return &draft{
		w: w, c: w.c, now: time.Now().Truncate(time.Microsecond),
		records: w.records[:0], tools: map[memoryd.ToolRef]*toolDraft{}, keys: map[[16]byte]uint32{}, prints: map[uint64]struct{}{},
		added: map[seqRef]*pendingCall{}, settled: map[*pendingCall]*memoryd.Evaluation{},
		retried: map[*pendingCall]time.Time{},
	}
}

// find gives the tool's draft, nil if there is no such tool.
func (d *draft) find(ref memoryd.ToolRef) *toolDraft {
	if td := d.tools[ref]; td != nil {
		return td
	}
	t := d.w.cat.byRef[ref] // only the writer changes the catalog: no lock
	if t == nil {
		return nil
	}
	td := &toolDraft{t: t, info: t.info}
	d.tools[ref] = td
	d.order = append(d.order, td)
	return td
}

// create makes a tool.
func (d *draft) create(ref memoryd.ToolRef) (*toolDraft, error) {
	d.w.nextTool++
	t := &tool{id: d.w.nextTool}
	td := &toolDraft{t: t, isNew: true}
	td.info.ToolRef = ref
	td.info.Created = d.now
	d.tools[ref] = td
	d.order = append(d.order, td)
	return td, d.c.exec(`INSERT INTO tools (id, workspace, name, created) VALUES (?,?,?,?)`,
		int64(t.id), ref.Workspace, ref.Tool, d.now.UnixMicro())
}

// knows reports whether a live tool accepted the key.
func (d *draft) knows(key *[16]byte) bool {
	if _, ok := d.keys[*key]; ok {
		return true
	}
	tool, ok := d.w.win.tool(key)
	return ok && d.w.cat.byID[tool] != nil
}

// repeats reports whether a call with the fingerprint was accepted.
func (d *draft) repeats(fp uint64) bool {
	if _, ok := d.prints[fp]; ok {
		return true
	}
	return d.w.win.repeats(fp)
}

func (d *draft) record(r record) {
	d.records = r.appendTo(d.records)
	d.logged++
}

// keptCount is how many calls the history holds.
func (td *toolDraft) keptCount() int { return len(td.t.kept) - td.dropped + len(td.pushed) }

// oldest gives row and number of the oldest kept call.
func (td *toolDraft) oldest() (slot, seq int64) {
	seq = td.info.Lifetime - int64(td.keptCount()) + 1
	if n := len(td.t.kept); td.dropped >= n {
		return td.pushed[td.dropped-n], seq
	}
	return td.t.kept[td.dropped], seq
}

// dropOldest lets the oldest call go and gives its row.
func (d *draft) dropOldest(td *toolDraft) (slot int64, err error) {
	slot, seq := td.oldest()
	td.dropped++
	ref := seqRef{td.t.id, seq}
	p := d.added[ref]
	if p != nil {
		delete(d.added, ref)
	} else if p = d.w.pend.findSeq(td.t.id, seq); p != nil {
		if _, done := d.settled[p]; done {
			return slot, nil
		}
		d.settled[p] = nil
	}
	if p == nil {
		return slot, nil
	}
	td.info.Pending--
	return slot, d.deletePending(p)
}

// trim lets all but the newest keep calls go, for good.
func (d *draft) trim(td *toolDraft, keep int) error {
	n := td.keptCount() - keep
	if n <= 0 {
		return nil
	}
	for range n {
		slot, err := d.dropOldest(td)
		if err != nil {
			return err
		}
		d.purge = append(d.purge, slot)
	}
	d.record(record{kind: recordTrimmed, tool: td.t.id, dropped: n})
	return nil
}

// announce tells readers, before the commit and after one that failed, that
// rows of calls which they may be reading change their verdicts.
func (d *draft) announce() {
	d.w.cat.mu.Lock()
	defer d.w.cat.mu.Unlock()
	for _, td := range d.order {
		if td.rewrites {
			td.t.rewrites++
		}
	}
}

// roomyRecords bounds the room for records that is kept for the next draft.
const roomyRecords = 64 << 10

// write stores what the jobs of the transaction left to its end.
func (d *draft) write() error {
	if err := d.w.writePurges(d, d.purge); err != nil {
		return err
	}
	if d.wrote = d.c.execs != d.begun; !d.wrote {
		return nil
	}
	d.w.lastLog++
	if cap(d.records) <= roomyRecords {
		d.w.records = d.records
	}
	return d.c.exec(`INSERT INTO log (id, at, records) VALUES (?,?,?)`, d.w.lastLog, d.now.UnixMicro(), d.records)
}

// apply makes memory what the committed transaction made the file. Readers see
// all of it or nothing.
func (d *draft) apply() {
	d.publish()
	w := d.w
	if d.wrote {
		from := w.win.next
		for i := range d.seen {
			w.win.add(d.seen[i])
		}
		w.young = append(w.young, youngRow{id: w.lastLog, records: max(1, d.logged), from: from, to: w.win.next, runs: d.runs})
		w.unfolded += max(1, d.logged)
	}
	for _, f := range d.after {
		f()
	}
}

// publish changes what readers see.
func (d *draft) publish() {
	w := d.w
	w.cat.mu.Lock()
	defer w.cat.mu.Unlock()
	for _, td := range d.order {
		td.apply()
		if td.isNew {
			w.cat.add(td.t)
		}
		if td.dropped > 0 || len(td.newer) > 0 {
			w.samples.push(td.t.id, td.t.first(), td.newer)
		}
	}
	for p, e := range d.settled {
		w.pend.remove(p)
		if e != nil {
			w.samples.judge(p.tool, p.seq, e, nil)
		}
	}
	for _, j := range d.judged {
		w.samples.judge(j.tool, j.seq, j.e, j.amend)
	}
	for p, notBefore := range d.retried {
		w.pend.retryAt(p, notBefore)
	}
	for _, p := range d.added {
		w.pend.add(p)
	}
	for _, r := range d.runs {
		w.runs.add(r)
	}
}

// apply takes the draft over into the tool.
func (td *toolDraft) apply() {
	t := td.t
	fromPushed := max(0, td.dropped-len(t.kept))
	t.kept = append(t.kept[td.dropped-fromPushed:], td.pushed[fromPushed:]...)
	if td.info.Revision != t.info.Revision || td.dropped > 0 {
		t.folded = false
	}
	if td.rewrites {
		t.rewrites++
	}
	t.info = td.info
	t.info.Kept = len(t.kept)
}
