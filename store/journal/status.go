package journal

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/store"
)

// Status is the state of the forwarding. Counts are since New, and of calls,
// verdicts and deletions, as Config.MaxBacklog counts.
type Status struct {
	// Operations wait to be forwarded; Backlog is what they hold.
	Operations, Backlog int
	// Oldest is when the first of them was accepted; zero when nothing waits.
	Oldest time.Time
	// Stuck says that forwarding failed, or took too long, when it was tried last;
	// Away that the remote store does not answer at all, so that reads are local,
	// and Why what it said then.
	Stuck, Away bool
	Why         string
	// Fault is why the remote store can never be used as it is; nil if it can.
	Fault error
	// Forwarded are at the remote store; Parked were refused there for ever and put
	// aside.
	Forwarded, Parked int64
	// Repairs are comparisons with the remote store that came to their end. It had
	// lost, and all comparisons together gave it back, Calls, Verdicts and
	// Guidelines.
	Repairs, Calls, Verdicts, Guidelines int64
}

// tally are the counts of a Status.
type tally struct{ forwarded, parked, repairs, calls, verdicts, guidelines atomic.Int64 }

// repaired counts a comparison, also one that broke off.
func (t *tally) repaired(r Report, err error) {
	if err == nil {
		t.repairs.Add(1)
	}
	t.calls.Add(int64(r.Calls))
	t.verdicts.Add(int64(r.Verdicts))
	t.guidelines.Add(int64(r.Guidelines))
}

// Status gives the state of the forwarding.
func (s *backend) Status() Status {
	n, weight := s.q.backlog()
	st := Status{
		Operations: n, Backlog: weight, Oldest: s.q.oldest(), Stuck: s.slow.Load(), Away: s.away.Load(),
		Forwarded: s.tally.forwarded.Load(), Parked: s.tally.parked.Load(), Repairs: s.tally.repairs.Load(),
		Calls: s.tally.calls.Load(), Verdicts: s.tally.verdicts.Load(), Guidelines: s.tally.guidelines.Load(),
	}
	if why := s.why.Load(); why != nil && st.Away {
		st.Why = *why
	}
	if fault := s.fault.Load(); fault != nil {
		st.Fault = fault
	}
	return st
}

// Journal gives the local store, for what it reports of itself.
func (s *backend) Journal() store.Store { return s.local }

// Sweep lets the remote store tidy up, if it has a Sweep and is there.
func (s *backend) Sweep(ctx context.Context) error {
	remote := s.remote
	if s.lazy != nil {
		opened := s.lazy.opened.Load()
		if opened == nil {
			return nil
		}
		remote = *opened
	}
	tidy, ok := remote.(interface {
		Sweep(ctx context.Context) error
	})
	if !ok || s.away.Load() {
		return nil
	}
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	return tidy.Sweep(ctx)
}

// reason says in words that a caller may see why a store did not serve.
func reason(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return "it does not answer in time"
	}
	_, msg := memoryd.KindOf(err)
	return msg
}
