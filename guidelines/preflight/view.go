package preflight

import (
	"slices"
	"time"

	"memoryd"
	"memoryd/guidelines/evidence"
	tested "memoryd/guidelines/rules"
	"memoryd/internal/errortext"
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
	seen   *seenValues // read when it is asked for
	breaks []*Tested   // what it breaks of what calls bear out
}

// runCall is a judged call of the same tool in the run.
type runCall struct {
	*store.RunCall
	failed   bool
	wrong    bool // it failed, half failed, or had an odd answer
	identity uint64
	reason   *refusal // nil: not read yet
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
	v := &view{Planned: p, in: in}
	elsewhere := Count{}
	hasWorked, failures := m.judged > m.failed, m.failed
	tried := func(key memoryd.CallKey, failed, isElsewhere bool) {
		if failed {
			v.tries = append(v.tries, key)
		}
		v.own.add(failed)
		if isElsewhere {
			elsewhere.add(failed)
		}
	}
	for _, place := range m.byInput[in.identity] {
		c := &m.calls[place]
		tried(c.key, c.failed(), p.Run == "" || c.run != p.Run)
	}
	sum := byteSum(in.raw)
	known := func(key memoryd.CallKey) bool { _, learned := m.keys[key]; return learned }
	for i := range p.Since {
		c := &p.Since[i].Call
		if p.Run != "" || c.Evaluation.State != memoryd.Judged || known(c.Key) { // a run tells more
			continue
		}
		failed := c.Evaluation.Score <= memoryd.ScoreFailure
		if failed {
			failures++
		}
		hasWorked = hasWorked || !failed
		if v.identity(c.Input, sum) == in.identity {
			tried(c.Key, failed, true)
		}
	}
	state := &v.state
	state.last = map[uint64]bool{}
	for i := len(p.RunCalls) - 1; i >= 0; i-- {
		c := &p.RunCalls[i]
		failed, isKnown := outcome(c)
		if !isKnown || m.tool() != "" && c.Tool != m.tool() || c.Input == nil {
			continue
		}
		identity := v.identity(c.Input, sum)
		v.run = append(v.run, runCall{RunCall: c, failed: failed, wrong: failed || m.wrong(c.Score, c.Output), identity: identity})
		state.take(identity, failed)
		if known(c.Key) {
			continue
		}
		if failed {
			failures++
		}
		hasWorked = hasWorked || !failed
		if identity == in.identity {
			tried(c.Key, failed, false)
		}
	}
	common := 0.0
	if c := v.lastFailure(); c != nil && state.streak > 0 {
		common = in.common(read(c.Input))
	}
	v.met = met(in.identity, state, common, elsewhere, hasWorked, failures)
	if len(m.options.Tested) > 0 {
		v.breaks = slices.DeleteFunc(m.brokenBy(m.plan(v)), v.contradicts)
	}
	return v
}

func (m *Model) tool() string { return m.options.Tool }

// common is which share of the features of two inputs, taken together, both have.
func (p *planned) common(o *planned) float64 {
	known := make(map[uint64]struct{}, len(p.features))
	for _, f := range p.features {
		known[f] = struct{}{}
	}
	both := 0
	for _, f := range o.features {
		if _, has := known[f]; has {
			both++
		}
	}
	return float64(both) / float64(max(1, len(p.features)+len(o.features)-both))
}

// lastFailure is the newest failed call of the tool in the run, nil when there is
// none.
func (v *view) lastFailure() *runCall { return v.newest(func(c *runCall) bool { return c.failed }) }

// sameFailure is the newest failed try of this input in the run, nil when there is
// none.
func (v *view) sameFailure() *runCall {
	return v.newest(func(c *runCall) bool { return c.failed && c.identity == v.in.identity })
}

func (v *view) newest(is func(*runCall) bool) *runCall {
	for i := range slices.Backward(v.run) {
		if c := &v.run[i]; is(c) {
			return c
		}
	}
	return nil
}

// wentWrong is the newest try of this input in the run, if it went wrong without failing.
func (v *view) wentWrong() *runCall {
	c := v.newest(func(c *runCall) bool { return c.identity == v.in.identity })
	if c == nil || c.failed || !c.wrong {
		return nil
	}
	return c
}

// wrong reports whether a call went wrong by its score, or by a line of text in place of
// the JSON that the tool usually answers with.
func (m *Model) wrong(score float64, output string) bool {
	return score < memoryd.ScoreSuccess || m.options.JSON && evidence.IsLine(output)
}

// ago is how long before now a call was made, zero when that cannot be told.
func (v *view) ago(c *runCall) time.Duration {
	if v.Now.IsZero() || c.Time.IsZero() || c.Time.After(v.Now) {
		return 0
	}
	return v.Now.Sub(c.Time)
}

// refusal reads why a call of the run failed.
func (c *runCall) refusal() *refusal {
	if c.reason == nil {
		c.reason = refusalOf(c.Output, leavesOf(c.Input))
		c.reason.remedy = tested.Remedy(c.Tool, errortext.Unwrap(c.Output), c.Input)
	}
	return c.reason
}

// identity is that of an input. Inputs of other bytes, whatever their order, are
// not read: they are not the planned one.
func (v *view) identity(input []byte, sum int) uint64 {
	if s := byteSum(input); s != sum {
		return uint64(seed.int(s).bytes(input))
	}
	return identityOf(leavesOf(input))
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
