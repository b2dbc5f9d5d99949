package journal

import (
	"cmp"
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
	store.Store // the backend behind its drainer, which checks what comes
	internals
}

// internals are what the drainer does not cover.
type internals struct{ *backend }

type backend struct {
	drainer       store.Drainer
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

	lazy     *lazyRemote // the remote store, if it had to be opened by Open; else nil
	counters counters
	fault    atomic.Pointer[memoryd.Error] // why the remote store can never be used as it is
	why      atomic.Pointer[string]        // the reason of the newest turn to away

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
	return &Store{s.drainer.Guard(s), internals{s}}, nil
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

// counters are the counts of a Status.
type counters struct{ forwarded, parked, repairs, calls, verdicts, guidelines, uncounted atomic.Int64 }

// repaired counts a comparison, also one that broke off.
func (t *counters) repaired(r Report, err error) {
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
		Forwarded: s.counters.forwarded.Load(), Parked: s.counters.parked.Load(), Repairs: s.counters.repairs.Load(),
		Calls: s.counters.calls.Load(), Verdicts: s.counters.verdicts.Load(), Guidelines: s.counters.guidelines.Load(),
		Uncounted: s.counters.uncounted.Load(),
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
	if err := s.drainer.Enter(ctx); err != nil {
		return err
	}
	defer s.drainer.Leave()
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

// Config is how much may wait for the remote store, and for how long callers do.
type Config struct {
	// MaxBacklog is how many calls, verdicts and deletions may wait to be
	// forwarded. What would go beyond is refused as overloaded.
	MaxBacklog int `yaml:"max_backlog"`
	// ForwardBatch is how many of them one request to the remote store carries at
	// most.
	ForwardBatch int `yaml:"forward_batch"`
	// RetryMin and RetryMax are the first and the longest wait between tries while
	// the remote store is away; it doubles from one to the other.
	RetryMin time.Duration `yaml:"retry_min"`
	RetryMax time.Duration `yaml:"retry_max"`
	// RepairInterval is the time between comparisons of the local copy with the
	// remote store; 0 means none but on request.
	RepairInterval time.Duration `yaml:"repair_interval"`
	// RemoteWait is how long a caller waits for the remote store before it is
	// answered from the local one, or refused if that cannot answer.
	RemoteWait time.Duration `yaml:"remote_wait"`
}

// Validate names the first setting that cannot work.
func (c Config) Validate() error {
	return cmp.Or(
		store.Within("max_backlog", c.MaxBacklog, 1, 10_000_000), store.Within("forward_batch", c.ForwardBatch, 1, 10_000),
		store.Within("retry_min", c.RetryMin, time.Millisecond, time.Hour), store.Within("retry_max", c.RetryMax, c.RetryMin, time.Hour),
		store.Within("repair_interval", c.RepairInterval, 0, 30*24*time.Hour),
		store.Within("remote_wait", c.RemoteWait, time.Millisecond, time.Minute),
	)
}

// Opener opens the remote store. An error that is Unavailable or Overloaded, or
// the end of the context, says that it may succeed later; any other that the
// remote store can never be used as it is.
type Opener func(ctx context.Context) (store.Store, error)

// lazyRemote is a remote store that could not be opened yet. Until it is, every
// method fails as unavailable and nothing was done.
type lazyRemote struct {
	store.Store
	open   Opener
	opened atomic.Pointer[store.Store]
}

func newLazyRemote(open Opener) *lazyRemote {
	l := &lazyRemote{open: open}
	l.Store = store.Intercept(func(ctx context.Context, method string, call func(context.Context, store.Store) error) error {
		if remote := l.opened.Load(); remote != nil {
			return call(ctx, *remote)
		}
		if method == "Close" {
			return nil
		}
		return memoryd.Errorf(memoryd.Unavailable, "the remote store has not been reached yet")
	})
	return l
}

// connect opens the remote store unless that has been done. One goroutine at a
// time calls it.
func (l *lazyRemote) connect(ctx context.Context) error {
	if l.opened.Load() != nil {
		return nil
	}
	remote, err := l.open(ctx)
	if err == nil {
		l.opened.Store(&remote)
	}
	return err
}

// Open is New for a remote store that may be away: it is opened here, for
// Config.RemoteWait at most, or else by the forwarding, which tries until it
// succeeds. A remote store that answers and cannot be used is an error here; when
// that is found out later, Ping fails and says so, and calls are still accepted
// into the journal. Open closes neither store's files when it fails but the remote
// one's.
func Open(ctx context.Context, local store.Store, open Opener, cfg Config, log *slog.Logger, now func() time.Time) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, memoryd.Wrap(memoryd.Invalid, err, "the journal's settings are wrong")
	}
	l := newLazyRemote(open)
	limited, cancel := context.WithTimeout(ctx, cfg.RemoteWait)
	defer cancel()
	err := l.connect(limited)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case limited.Err() == nil && !isAway(err):
		return nil, err
	}
	s, newErr := New(local, l, cfg, log, now)
	if newErr != nil {
		if closeErr := l.Close(); closeErr != nil {
			log.WarnContext(ctx, "the remote store was not closed", "err", closeErr)
		}
		return nil, newErr
	}
	s.lazy = l
	if err != nil {
		s.markAway(err)
	}
	return s, nil
}

// connect opens a remote store that could not be opened at the start. It tries
// until it succeeds or the context ends, and is loud about one that answers and
// cannot be used: nothing is forwarded until somebody mends that.
func (s *backend) connect(ctx context.Context) {
	if s.lazy == nil {
		return
	}
	for wait := s.cfg.RetryMin; ctx.Err() == nil; wait = min(2*wait, s.cfg.RetryMax) {
		limited, cancel := context.WithTimeout(ctx, requestTime)
		err := s.lazy.connect(limited)
		away := limited.Err() != nil || isAway(err)
		cancel()
		switch {
		case err == nil:
			s.fault.Store(nil)
			return
		case ctx.Err() != nil:
			return
		case away:
			s.fault.Store(nil)
			s.markAway(err)
		default:
			wait = s.cfg.RetryMax
			s.unusable(err)
		}
		jittered(ctx, wait)
	}
}

// unusable notes that the remote store answers and cannot be used as it is.
func (s *backend) unusable(err error) {
	s.fault.Store(&memoryd.Error{
		Kind: memoryd.Unavailable, Msg: "the remote store cannot be used: " + reason(err), RetryAfter: s.cfg.RetryMax, Err: err,
	})
	s.log.Error("the remote store cannot be used; what comes is kept in the journal", "err", err, "waiting", s.Status().Backlog)
}
