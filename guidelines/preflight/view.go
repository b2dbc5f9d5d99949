package preflight

import (
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	tested "memoryd/guidelines/rules"
	"memoryd/store"
)

// view is a planned call with what its run and the history show of it.
type view struct {
	Planned
	m    *Model
	in   *planned
	met  rules
	tool Count // all its calls
	// own is the record of the input: all its tries, of any run.
	own Count
	// tries are the keys of the failed ones among them, oldest first; failures those of the failed
	// calls of the tool that the model has not learned from.
	tries, failures []memoryd.CallKey
	// run are the tool's calls in the run, oldest first.
	run     []runCall
	repeats bool         // this input failed in the run when it was tried last
	streak  int          // how many calls of the run failed in a row, up to the newest
	seen    []*seenValue // read when it is asked for
	breaks  []*Tested    // what it breaks of what calls bear out
	kept    Count        // the calls that say something of it, where rules on the run are kept; else none
	// observer has read the calls of the run; nil before it is needed.
	observer *evidence.Observer
	past     map[memoryd.CallKey]*tested.Planned // the tool's calls of the run, as they were planned
	now      *tested.Planned                     // the planned call; nil before it is needed
}

// planned is the planned call as mining would read it.
func (v *view) planned() *tested.Planned {
	if v.now == nil {
		v.now = v.m.plan(v, v.in.raw)
	}
	return v.now
}

// runCall is a judged call of the same tool in the run.
type runCall struct {
	*store.RunCall
	failed bool
	same   bool // its input is the planned one
}

// outcome tells how a call of a run came out, as far as that is known: one that
// waits for its verdict failed if its caller says so.
func outcome(c *store.RunCall) (failed, known bool) {
	if c.State == memoryd.Judged {
		return c.Score <= memoryd.ScoreFailure, true
	}
	return !c.Success, !c.Success
}

// view looks at a planned call.
func (m *Model) view(in *planned, p Planned) *view {
	v := &view{Planned: p, in: in, m: m, tool: m.judged}
	v.ofRun()
	if len(m.options.Tested) > 0 {
		v.breaks = slices.DeleteFunc(m.brokenBy(v.planned()), v.contradicts)
		v.run = slices.DeleteFunc(v.run, func(c runCall) bool { return c.failed && m.avoids(v, &c) })
	}
	other, from := m.otherwise(v)
	for _, place := range m.byInput[in.identity] {
		if c := &m.calls[place]; int(place) >= from && !other[c.key] {
			v.tried(c.key, c.failed())
		}
	}
	if p.Run == "" { // a run tells more
		v.since()
	}
	for i := range v.run {
		v.unlearned(v.run[i].Key, v.run[i].failed, v.run[i].same)
	}
	v.take()
	v.met = met(v.repeats, v.streak, v.own, v.tool)
	return v
}

// avoids reports whether a call of the run failed by a rule that the planned call keeps: then that
// failure says nothing of it.
func (m *Model) avoids(v *view, failed *runCall) bool {
	p, told := v.past[failed.Key]
	if !told {
		p = tested.Plan(&tested.Call{Input: failed.Input})
	}
	return slices.ContainsFunc(m.brokenBy(p), func(t *Tested) bool {
		return (told || !t.About()) && !slices.Contains(v.breaks, t) && !v.contradicts(t)
	})
}

// otherwise lists the calls that went wrong for what their run had done, where the planned call
// comes after something else: they say nothing of it. Nor do calls before from, which no rule was
// held against.
func (m *Model) otherwise(v *view) (other map[memoryd.CallKey]bool, from int) {
	other = map[memoryd.CallKey]bool{}
	for i := range m.options.Tested {
		t := &m.options.Tested[i]
		if v.Run == "" || !t.About() || t.Doubtful() || slices.Contains(v.breaks, t) || v.contradicts(t) {
			continue
		}
		for _, k := range t.Keys {
			other[k] = true
		}
	}
	if len(other) == 0 {
		return nil, 0
	}
	from = max(0, len(m.calls)-tested.Compared)
	for i := range m.calls[from:] {
		if c := &m.calls[from+i]; c.judged && !other[c.key] {
			v.kept.add(c.failed())
		}
	}
	return other, from
}

// take looks at how the tool's calls in the run came out.
func (v *view) take() {
	for i := range v.run {
		c := &v.run[i]
		if c.same {
			v.repeats = c.failed
		}
		if v.streak++; !c.failed {
			v.streak = 0
		}
	}
}

// tried counts an equal call.
func (v *view) tried(key memoryd.CallKey, failed bool) {
	if failed {
		v.tries = append(v.tries, key)
	}
	v.own.add(failed)
}

// unlearned counts a call that the model has not learned from.
func (v *view) unlearned(key memoryd.CallKey, failed, isEqual bool) {
	if _, learned := v.m.keys[key]; learned {
		return
	}
	if v.tool.add(failed); failed {
		v.failures = append(v.failures, key)
	}
	if isEqual {
		v.tried(key, failed)
	}
}

// since counts the calls since the model was learned.
func (v *view) since() {
	for i := range v.Since {
		c := &v.Since[i].Call
		if c.Evaluation.State == memoryd.Judged {
			v.unlearned(c.Key, c.Evaluation.Score <= memoryd.ScoreFailure, v.in.equals(c.Input))
		}
	}
}

// ofRun counts the calls of the run, the oldest first.
func (v *view) ofRun() {
	tool := v.m.options.Tool
	for i := len(v.RunCalls) - 1; i >= 0; i-- {
		c := &v.RunCalls[i]
		failed, isKnown := outcome(c)
		if !isKnown || tool != "" && c.Tool != tool || c.Input == nil {
			continue
		}
		same := v.in.equals(c.Input)
		v.run = append(v.run, runCall{RunCall: c, failed: failed, same: same})
	}
}

// equals reports whether an input is the planned one. One of other bytes, whatever their order,
// is not read.
func (p *planned) equals(input []byte) bool {
	return byteSum(input) == p.bytes && identityOf(leavesOf(input)) == p.identity
}

// byteSum is the same for JSON texts that differ in blanks and in the order of
// members.
func byteSum(input []byte) (sum int) {
	for _, b := range input {
		if b > ' ' {
			sum += int(b)
		}
	}
	return sum
}
