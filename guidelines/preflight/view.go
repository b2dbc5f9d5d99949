package preflight

import (
	"time"

	"memoryd"
	"memoryd/guidelines/constraints"
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
	run []runCall
	// broken is what it breaks of what messages asked for, nil for nothing.
	broken *asked
	state  runState
	seen   *seenValues // read when it is asked for
}

// runCall is a judged call of the same tool in the run.
type runCall struct {
	*store.RunCall
	failed   bool
	identity uint64
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
	for _, place := range m.byInput[in.identity] {
		c := &m.calls[place]
		isFailed := 0
		if c.failed() {
			isFailed = 1
			v.tries = append(v.tries, c.key)
		}
		v.own.Calls++
		v.own.Failed += isFailed
		if p.Run == "" || c.run != p.Run {
			elsewhere.Calls++
			elsewhere.Failed += isFailed
		}
	}
	state := &v.state
	state.last = map[uint64]bool{}
	hasWorked, failures := m.judged > m.failed, m.failed
	for i := len(p.RunCalls) - 1; i >= 0; i-- {
		c := &p.RunCalls[i]
		failed, known := outcome(c)
		if !known || m.tool() != "" && c.Tool != m.tool() || c.Input == nil {
			continue
		}
		identity := identityOf(leavesOf(c.Input))
		v.run = append(v.run, runCall{c, failed, identity})
		state.take(identity, failed)
		if _, learned := m.keys[c.Key]; learned {
			continue
		}
		if failed {
			failures++
		} else {
			hasWorked = true
		}
		if identity == in.identity {
			v.own.Calls++
			if failed {
				v.own.Failed++
				v.tries = append(v.tries, c.Key)
			}
		}
	}
	v.met = met(in.identity, state, elsewhere.Calls, elsewhere.Failed, hasWorked, failures)
	if v.broken = m.refused.first(in.raw, in.leaves); v.broken != nil {
		v.met.put(BreaksMessage)
	}
	return v
}

func (m *Model) tool() string { return m.options.Tool }

// lastFailure is the newest failed call of the tool in the run, nil when there is
// none.
func (v *view) lastFailure() *runCall {
	for i := len(v.run) - 1; i >= 0; i-- {
		if v.run[i].failed {
			return &v.run[i]
		}
	}
	return nil
}

// sameFailure is the newest failed try of this input in the run, nil when there is
// none.
func (v *view) sameFailure() *runCall {
	for i := len(v.run) - 1; i >= 0; i-- {
		if v.run[i].failed && v.run[i].identity == v.in.identity {
			return &v.run[i]
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

// refusal reads why a call of the run failed.
func (c *runCall) refusal() (refusal, []leaf, bool) {
	leaves := leavesOf(c.Input)
	r, ok := refusalOf(c.Output, leaves)
	return r, leaves, ok
}

// isGeneral reports classes that say only that something failed.
func isGeneral(c constraints.Class) bool { return c == "" || c == constraints.Failed }
