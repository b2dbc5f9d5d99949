package preflight

import (
	"bytes"
	"slices"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	tested "memoryd/guidelines/rules"
	"memoryd/store"
)

// view is a planned call with what its run and the history show of it.
type view struct {
	Planned
	in  *planned
	met rules
	// own is the record of the input: all its tries, of any run.
	own Count
	// tries are the keys of the failed ones among them, oldest first.
	tries []memoryd.CallKey
	// run are the tool's calls in the run, oldest first.
	run    []runCall
	state  runState
	seen   []*seenValue // read when it is asked for
	breaks []*Tested    // what it breaks of what calls bear out
	kept   Count        // the calls that say something of it, where rules on the run are kept; else none
	// observer has read the calls of the run; nil before it is needed.
	observer *evidence.Observer
	past     map[memoryd.CallKey]*tested.Planned // the tool's calls of the run, as they were planned
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
	t := &tally{m: m, v: &view{Planned: p, in: in}, hasWorked: m.judged > m.failed, failures: m.failed}
	v := t.v
	t.ofRun()
	if len(m.options.Tested) > 0 {
		v.breaks = slices.DeleteFunc(m.brokenBy(m.plan(v, in.raw)), v.contradicts)
		v.run = slices.DeleteFunc(v.run, func(c runCall) bool { return c.failed && m.avoids(v, &c) })
	}
	other, from := m.otherwise(v)
	for _, place := range m.byInput[in.identity] {
		if c := &m.calls[place]; int(place) >= from && !other[c.key] {
			t.tried(c.key, c.failed(), p.Run == "" || c.run != p.Run)
		}
	}
	if p.Run == "" { // a run tells more
		t.since()
	}
	for i := range v.run {
		t.unlearned(v.run[i].Key, v.run[i].failed, v.run[i].same, false)
	}
	v.take()
	common := 0.0
	if c := v.lastFailure(); c != nil && v.state.streak > 0 {
		common = shared(in.pieces, read(c.Input).pieces)
	}
	v.met = met(in.identity, &v.state, common, t.elsewhere, t.hasWorked, t.failures)
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
		if v.Run == "" || !t.About() || t.Doubtful || slices.Contains(v.breaks, t) || v.contradicts(t) {
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
	v.state.last = map[uint64]bool{}
	for i := range v.run {
		identity := v.in.identity
		if !v.run[i].same {
			identity++ // that of no call
		}
		v.state.take(identity, v.run[i].failed)
	}
}

// tally counts what is known of equal calls, and of all, while a view is made.
type tally struct {
	m         *Model
	v         *view
	elsewhere Count // equal calls of other runs
	hasWorked bool
	failures  int
}

// tried counts an equal call.
func (t *tally) tried(key memoryd.CallKey, failed, isElsewhere bool) {
	if failed {
		t.v.tries = append(t.v.tries, key)
	}
	t.v.own.add(failed)
	if isElsewhere {
		t.elsewhere.add(failed)
	}
}

// unlearned counts a call that the model has not learned from.
func (t *tally) unlearned(key memoryd.CallKey, failed, isEqual, isElsewhere bool) {
	if _, learned := t.m.keys[key]; learned {
		return
	}
	if failed {
		t.failures++
	}
	t.hasWorked = t.hasWorked || !failed
	if isEqual {
		t.tried(key, failed, isElsewhere)
	}
}

// since counts the calls since the model was learned.
func (t *tally) since() {
	for i := range t.v.Since {
		c := &t.v.Since[i].Call
		if c.Evaluation.State == memoryd.Judged {
			t.unlearned(c.Key, c.Evaluation.Score <= memoryd.ScoreFailure, t.v.in.equals(c.Input), true)
		}
	}
}

// ofRun counts the calls of the run, the oldest first.
func (t *tally) ofRun() {
	v, m := t.v, t.m
	for i := len(v.RunCalls) - 1; i >= 0; i-- {
		c := &v.RunCalls[i]
		failed, isKnown := outcome(c)
		if !isKnown || m.tool() != "" && c.Tool != m.tool() || c.Input == nil {
			continue
		}
		same := v.in.equals(c.Input)
		v.run = append(v.run, runCall{RunCall: c, failed: failed, same: same})
	}
}

func (m *Model) tool() string { return m.options.Tool }

// lastFailure is the newest failed call of the tool in the run, nil when there is
// none.
func (v *view) lastFailure() *runCall { return v.newest(func(c *runCall) bool { return c.failed }) }

// sameFailure is the newest failed try of this input in the run, nil when there is
// none.
func (v *view) sameFailure() *runCall {
	return v.newest(func(c *runCall) bool { return c.failed && c.same })
}

func (v *view) newest(is func(*runCall) bool) *runCall {
	for i := range slices.Backward(v.run) {
		if c := &v.run[i]; is(c) {
			return c
		}
	}
	return nil
}

// ago is how long before now a call was made, zero when that cannot be told.
func (v *view) ago(c *runCall) time.Duration {
	if v.Now.IsZero() || c.Time.IsZero() || c.Time.After(v.Now) {
		return 0
	}
	return v.Now.Sub(c.Time)
}

// equals reports whether an input is the planned one. One of other bytes, whatever their order,
// is not read.
func (p *planned) equals(input []byte) bool {
	return solid(input) == p.solid && byteSum(input) == byteSum(p.raw) && identityOf(leavesOf(input)) == p.identity
}

// solid is how many bytes are no blanks.
func solid(input []byte) int {
	n := len(input)
	for _, b := range []byte(" \n\r\t") {
		n -= bytes.Count(input, []byte{b})
	}
	return n
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
