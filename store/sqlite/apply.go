package sqlite

// apply makes memory what the committed transaction made the file. Readers see
// all of it or nothing.
func (d *draft) apply() {
	d.publish()
	w := d.w
	if d.logged > 0 {
		from := w.win.next
		for i := range d.seen {
			w.win.add(d.seen[i])
		}
		w.young = append(w.young, youngRow{id: w.lastLog, records: d.logged, from: from, to: w.win.next, runs: d.runs})
		w.unfolded += d.logged
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
			w.samples.judge(p.tool, p.seq, e)
		}
	}
	for _, j := range d.judged {
		w.samples.judge(j.tool, j.seq, j.e)
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
	// A full history drops and pushes by turns, so its ring never grows.
	fromPushed := max(0, td.dropped-t.kept.len())
	left := td.dropped - fromPushed
	t.kept.drop(left)
	for _, slot := range td.pushed[fromPushed:] {
		t.kept.push(slot)
	}
	if td.info.Revision != t.info.Revision || td.dropped > 0 {
		t.folded = false
	}
	if td.rewrites {
		t.rewrites++
	}
	t.info = td.info
	t.info.Kept = t.kept.len()
}
