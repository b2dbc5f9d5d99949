package journal

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// Store is a remote store behind a local journal. New makes one; it forwards
// nothing before Start.
type Store struct {
	store.Store // the backend behind its gate, which checks what comes
	internals
}

// internals are what the gate does not cover.
type internals struct{ *backend }

type backend struct {
	gate          store.Gate
	local, remote store.Store
	cfg           Config
	log           *slog.Logger
	now           func() time.Time

	q          *queue
	j          *journal
	order      stripes
	wake       chan struct{} // something can be forwarded
	self       int64
	keep       atomic.Int64 // how many calls the newest append wanted kept
	guidelines *guidelineCache
	checks     *checks

	lazy  *lazyRemote // the remote store, if it had to be opened by Open; else nil
	tally tally
	fault atomic.Pointer[memoryd.Error] // why the remote store can never be used as it is
	why   atomic.Pointer[string]        // the reason of the newest turn to away

	away    atomic.Bool // the remote store did not answer when it was asked last
	slow    atomic.Bool // forwarding failed or took too long, and did not succeed since
	working atomic.Bool // started and not stopped
	worker  *lifecycle.Worker
}

// New makes a store of a local one, which it uses alone and for nothing else, and
// a remote one. It takes up what waited in the local one. Close closes both; New
// closes neither when it fails.
func New(local, remote store.Store, cfg Config, log *slog.Logger, now func() time.Time) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the journal's settings are wrong")
	}
	s := &backend{
		local: local, remote: remote, cfg: cfg, log: log, now: now,
		q: newQueue(), j: &journal{local: local}, order: stripes{seed: maphash.MakeSeed()},
		wake: make(chan struct{}, 1), guidelines: newGuidelineCache(local), checks: newChecks(), worker: lifecycle.NewWorker(log, "forwarding"),
	}
	if err := s.resume(context.Background()); err != nil {
		return nil, fmt.Errorf("journal: taking up what waits: %w", err)
	}
	return &Store{s.gate.Guard(s), internals{s}}, nil
}

// resume reads what waits, and carries out on the local copy what it may lack: a
// process may have died between the two writes.
func (s *backend) resume(ctx context.Context) error {
	applied := int64(0)
	last, err := s.j.read(ctx, func(seq int64, o *op) error {
		applied = max(applied, o.Applied)
		if o.Accepted == 0 {
			o.Accepted = s.now().UnixMicro()
		}
		e := newEntry(o)
		e.seq = seq
		s.q.mu.Lock()
		s.q.push(e)
		s.q.mu.Unlock()
		s.q.confirm([]*entry{e})
		return nil
	})
	if err == nil {
		err = s.catchUp(ctx, applied)
	}
	if err != nil {
		return err
	}
	s.q.last = last
	keep, err := s.j.mark(ctx, markKeep)
	if err != nil {
		return err
	}
	s.keep.Store(keep)
	if s.self, err = s.j.mark(ctx, markSelf); err != nil || s.self != 0 {
		return err
	}
	s.self = rand.Int64N(1<<62) + 1
	return s.j.setMark(ctx, markSelf, s.self)
}

// catchUp carries out on the local copy the operations after a number.
func (s *backend) catchUp(ctx context.Context, applied int64) error {
	for _, e := range s.q.after(applied) {
		o, err := s.content(ctx, e)
		if err != nil {
			return err
		}
		if err := s.applyLocally(ctx, o, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Ping implements store.Store: it asks the local store, which acknowledges. It
// fails as overloaded when the backlog is full, and as unavailable when the remote
// store was found to be one that can never be used as it is.
func (s *backend) Ping(ctx context.Context) error {
	if _, weight := s.q.backlog(); weight >= s.cfg.MaxBacklog {
		return memoryd.Errorf(memoryd.Overloaded, "too much waits to be forwarded to the remote store")
	}
	if fault := s.fault.Load(); fault != nil {
		return fault
	}
	return s.local.Ping(ctx)
}

// Close implements store.Store. It stops the forwarding; what waits stays in the
// journal and is taken up by the next New. Both stores are closed.
func (s *backend) Close() error {
	s.Stop()
	return errors.Join(s.remote.Close(), s.local.Close())
}

// Start starts the forwarding and the periodic repair, once.
func (s *backend) Start(ctx context.Context) {
	loops := []func(context.Context){s.forwardLoop}
	if s.cfg.RepairInterval > 0 {
		loops = append(loops, s.repairLoop)
	}
	if s.worker.Start(ctx, loops...) {
		s.working.Store(true)
	}
}

// Stop ends both and waits for them. Requests to the remote store that are under
// way are cancelled. A store that was stopped first never starts.
func (s *backend) Stop() {
	s.working.Store(false)
	s.worker.Stop()
	s.q.releaseAll()
}

// pause waits, or ends with the context or a wake-up.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-wake:
	case <-ctx.Done():
	}
}

// repairLoop repairs now and then.
func (s *backend) repairLoop(ctx context.Context) {
	for {
		pause(ctx, s.cfg.RepairInterval, nil)
		if ctx.Err() != nil {
			return
		}
		if s.away.Load() {
			continue
		}
		report, err := s.Repair(ctx)
		if err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "the comparison with the remote store broke off", "err", err, "report", report)
			continue
		}
		if report.Damaged > 0 {
			s.log.WarnContext(ctx, "the remote store had lost something; it was put back", "report", report)
		}
	}
}

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
	// Uncounted is how many calls, which histories had let go, the counters miss since
	// the remote store had vanished and was filled anew.
	Uncounted int64
}

// tally are the counts of a Status.
type tally struct{ forwarded, parked, repairs, calls, verdicts, guidelines, uncounted atomic.Int64 }

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
		Uncounted: s.tally.uncounted.Load(),
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

// Remote is the remote store itself; nil if it could not be opened yet.
func (s *backend) Remote() store.Store {
	if s.lazy == nil {
		return s.remote
	}
	if opened := s.lazy.opened.Load(); opened != nil {
		return *opened
	}
	return nil
}

// Sweep lets the remote store tidy up, if it has a Sweep and is there.
func (s *backend) Sweep(ctx context.Context) error {
	tidy, ok := s.Remote().(interface {
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
