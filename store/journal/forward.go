package journal

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// maxRequestBytes bounds the calls of one request to the remote store, unless one
// operation holds more.
const maxRequestBytes = 8 << 20

// requestTime bounds one request of the forwarding, with all tries that the
// remote store makes by itself.
const requestTime = time.Minute

// forwardLoop forwards what waits. While that fails it tries again and again, and
// while the remote store is away it asks, also when nothing waits, whether it is
// back.
func (s *backend) forwardLoop(ctx context.Context) {
	s.connect(ctx)
	wait := s.cfg.RetryMin
	for ctx.Err() == nil {
		err := lifecycle.Do(ctx, s.log, "forwarding", func() error { return s.forwardNext(ctx) })
		if err == nil {
			wait = s.cfg.RetryMin
			continue
		}
		if ctx.Err() != nil {
			return
		}
		s.failed(ctx, err)
		jittered(ctx, wait)
		wait = min(2*wait, s.cfg.RetryMax)
	}
}

// jittered waits for a time between half of d and d.
func jittered(ctx context.Context, d time.Duration) { pause(ctx, d/2+rand.N(d/2+1), nil) }

// forwardNext forwards the operations at the head of the queue. If there are none
// it waits for some.
func (s *backend) forwardNext(ctx context.Context) error {
	es := s.q.head(s.cfg.ForwardBatch, maxRequestBytes)
	if len(es) == 0 {
		if s.away.Load() {
			if err := s.pingRemote(ctx); err != nil {
				return err
			}
		}
		pause(ctx, time.Hour, s.wake)
		return nil
	}
	for len(es) > 0 {
		n := run(es)
		if err := s.deliver(ctx, es[:n]); err != nil {
			return err
		}
		if err := s.passed(ctx, es[:n]); err != nil {
			return err
		}
		es = es[n:]
	}
	return nil
}

// failed lets nobody wait for the forwarding until it succeeds. Whether the
// remote store is away, so that it need not be asked for reads either, says its
// Ping.
func (s *backend) failed(ctx context.Context, err error) {
	if !s.slow.Swap(true) {
		s.log.WarnContext(ctx, "the remote store takes nothing; it is kept in the journal", "err", err)
	}
	s.q.releaseAll()
	if errors.Is(err, store.ErrVanished) {
		s.remake(ctx)
	}
	if err := s.pingRemote(ctx); err != nil && ctx.Err() == nil {
		s.markAway(err)
	}
}

// remake has a remote store made anew that lost what it kept, and fills it from the
// local copy: tools as they were, then what waits, and then what a comparison still
// finds missing. Records, and what others recorded without a journal, do not come back.
func (s *backend) remake(ctx context.Context) {
	r, ok := s.Remote().(store.Remaker)
	if !ok {
		return
	}
	if err := r.Remake(ctx); err != nil {
		s.log.ErrorContext(ctx, "the remote store lost what it kept and cannot be made anew", "err", err)
		return
	}
	restored, uncounted, err := s.refill(ctx)
	s.counters.uncounted.Add(uncounted)
	s.log.ErrorContext(ctx, "the remote store had lost what it kept; tools that this journal has were put back", "tools", restored, "uncounted", uncounted, "err", err)
	s.worker.Go(func(ctx context.Context) error {
		err := s.drained(ctx)
		if err == nil {
			var report Report
			report, err = s.Repair(ctx)
			s.log.InfoContext(ctx, "what was put back was compared", "report", report, "err", err)
		}
		return err
	})
}

// pingRemote asks whether the remote store is there.
func (s *backend) pingRemote(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.cfg.RemoteWait)
	defer cancel()
	err := s.remote.Ping(ctx)
	if err == nil {
		s.markBack()
	}
	return err
}

// passed notes that operations are at the remote store, and answers those who
// wait. The cursor may come after the answers, for what is sent again is known
// again; but not after those to a deletion, which must not happen again.
func (s *backend) passed(ctx context.Context, es []*entry) error {
	ctx = context.WithoutCancel(ctx)
	last := es[len(es)-1].seq
	ends := es[0].kind == opDeleteTool || es[0].kind == opDeleteWorkspace
	if ends {
		if err := s.j.forwarded(ctx, last, len(es), false); err != nil {
			return err
		}
	}
	s.q.leave(es)
	s.slow.Store(false)
	s.markBack()
	if ends {
		return nil
	}
	n, _ := s.q.backlog()
	if err := s.j.forwarded(ctx, last, len(es), n == 0); err != nil {
		s.log.ErrorContext(ctx, "the cursor of the journal was not written; after a restart some is sent again", "err", err)
	}
	return nil
}

// markAway lets reads be answered locally until the remote store is back.
func (s *backend) markAway(err error) {
	why := reason(err)
	s.why.Store(&why)
	if !s.away.Swap(true) {
		s.log.Warn("the remote store is away", "err", err)
		s.wakeUp() // somebody has to ask when it is back
	}
}

func (s *backend) markBack() {
	if s.away.Swap(false) {
		s.log.Info("the remote store is back")
	}
}

// run gives how many operations from the head on can be delivered as one step:
// those of one kind. Appends to one workspace must keep equally much.
func run(es []*entry) int {
	first := es[0]
	keep := map[string]int{}
	for i, e := range es {
		if e.kind != first.kind {
			return i
		}
		switch e.kind {
		case opAppend:
			w := e.refs[0].Workspace
			if k, ok := keep[w]; ok && k != e.keep {
				return i
			}
			keep[w] = e.keep
		case opSettle:
		default:
			return 1
		}
	}
	return len(es)
}

// deliver sends one step to the remote store.
func (s *backend) deliver(ctx context.Context, es []*entry) error {
	switch es[0].kind {
	case opAppend:
		for _, group := range bySpace(es) {
			if err := s.deliverGroup(ctx, group); err != nil {
				return err
			}
		}
		return nil
	case opSettle, opCache, opDeleteTool, opDeleteWorkspace:
		return s.deliverGroup(ctx, es)
	}
	return memoryd.Errorf(memoryd.Internal, "unknown operation %q in the journal", es[0].kind)
}

// bySpace groups appends by workspace, in their order, without those that were
// delivered before a later group failed.
func bySpace(es []*entry) (groups [][]*entry) {
	at := map[string]int{}
	for _, e := range es {
		if e.delivered {
			continue
		}
		w := e.refs[0].Workspace
		i, ok := at[w]
		if !ok {
			i = len(groups)
			at[w] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], e)
	}
	return groups
}

// deliverGroup sends operations as one request. If the remote store can never
// take them they go one by one, and those that it refuses are put aside.
func (s *backend) deliverGroup(ctx context.Context, es []*entry) error {
	ops := make([]*op, len(es))
	for i, e := range es {
		var err error
		if ops[i], err = s.content(ctx, e); err != nil {
			return err
		}
	}
	answers, err := s.request(ctx, ops, es)
	switch {
	case err == nil:
		for _, e := range es {
			s.counters.forwarded.Add(int64(e.weight))
		}
		s.q.deliveredAll(es, answers)
		return nil
	case !memoryd.IsKind(err, memoryd.Invalid) && !memoryd.IsKind(err, memoryd.TooLarge):
		s.q.triedAll(es)
		return err
	case len(es) == 1:
		s.log.ErrorContext(ctx, "the remote store refuses an operation; it is put aside", "number", es[0].seq, "err", err)
		if err := s.j.park(ctx, es[0], ops[0]); err != nil {
			return err
		}
		s.counters.parked.Add(int64(es[0].weight))
		s.q.deliveredAll(es, []*answer{nil})
		return nil
	}
	for _, e := range es {
		if err := s.deliverGroup(ctx, []*entry{e}); err != nil {
			return err
		}
	}
	return nil
}

// content gives the operation, from memory or the journal.
func (s *backend) content(ctx context.Context, e *entry) (*op, error) {
	s.q.mu.Lock()
	o := e.op
	s.q.mu.Unlock()
	if o != nil {
		return o, nil
	}
	return s.j.load(ctx, e)
}

// deliveredAll keeps the answers, except for operations of which an earlier try
// may have taken effect.
func (q *queue) deliveredAll(es []*entry, answers []*answer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, e := range es {
		e.delivered = true
		if !e.tried {
			e.answer = answers[i]
		}
	}
}

func (q *queue) triedAll(es []*entry) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range es {
		e.tried = true
	}
}

// request carries out operations of one kind on the remote store.
func (s *backend) request(ctx context.Context, ops []*op, es []*entry) ([]*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	switch ops[0].Kind {
	case opAppend:
		return s.requestAppend(ctx, ops, es)
	case opSettle:
		return s.requestSettle(ctx, ops)
	case opCache:
		return []*answer{{}}, s.remote.CacheVerdict(ctx, ops[0].Key, ops[0].Evaluation)
	case opDeleteTool:
		if err := s.markDeleted(ctx, ops[0].Ref); err != nil {
			return nil, err
		}
		return []*answer{{}}, s.remote.DeleteTool(ctx, ops[0].Ref)
	default:
		if err := s.markDeleted(ctx, ops[0].Ref); err != nil {
			return nil, err
		}
		n, err := s.remote.DeleteWorkspace(ctx, ops[0].Ref.Workspace)
		return []*answer{{removed: n}}, err
	}
}

func (s *backend) requestAppend(ctx context.Context, ops []*op, es []*entry) ([]*answer, error) {
	b := store.Batch{Workspace: ops[0].Ref.Workspace, Keep: ops[0].Keep}
	for _, o := range ops {
		b.Calls = append(b.Calls, o.Calls...)
	}
	got, err := s.remote.Append(ctx, b)
	if err != nil {
		return nil, err
	}
	out := make([]*answer, len(ops))
	for i, part := range splitAppended(es, got) {
		out[i] = &answer{appended: part}
	}
	return out, nil
}

func (s *backend) requestSettle(ctx context.Context, ops []*op) ([]*answer, error) {
	var vs []store.Verdict
	for _, o := range ops {
		vs = append(vs, o.Verdicts...)
	}
	got, err := s.remote.Settle(ctx, vs)
	if err != nil {
		return nil, err
	}
	out := make([]*answer, len(ops))
	for i, o := range ops {
		out[i] = &answer{settled: got[:len(o.Verdicts):len(o.Verdicts)]}
		got = got[len(o.Verdicts):]
	}
	return out, nil
}
