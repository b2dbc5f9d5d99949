package journal

import (
	"context"
	"time"

	"memoryd"
	"memoryd/store"
)

// outcome is what the local copy said of an operation.
type outcome struct {
	settled []bool
	removed int
}

// accept makes operations durable, carries them out on the local copy and lines
// them up for the remote store. When it fails nothing was accepted, unless the
// local store failed between its two writes and then could not take back the
// first: then the operations may still happen.
func (s *backend) accept(ctx context.Context, ops ...*op) ([]*entry, []outcome, error) {
	var es []*entry
	var refs []memoryd.ToolRef
	now := s.now().UnixMicro()
	for _, o := range ops {
		o.Accepted = now
		e := newEntry(o)
		es, refs = append(es, e), append(refs, e.refs...)
	}
	unlock := s.order.lock(refs)
	defer unlock()
	if err := s.q.join(es, s.cfg.MaxBacklog); err != nil {
		if full, ok := err.(*memoryd.Error); ok { //nolint:errorlint // made by join
			full.RetryAfter = s.cfg.RetryMax
		}
		return nil, nil, err
	}
	ctx = context.WithoutCancel(ctx) // the outcome of a local write must be known
	if err := s.j.put(ctx, es); err != nil {
		s.q.leave(es)
		return nil, nil, err
	}
	outs := make([]outcome, len(ops))
	for i, o := range ops {
		if err := s.applyLocally(ctx, o, &outs[i], es[i]); err != nil {
			s.takeBack(ctx, es)
			return nil, nil, err
		}
	}
	s.q.confirm(es)
	s.wakeUp()
	return es, outs, nil
}

// takeBack removes operations from the journal after the local copy failed. If
// even that fails they are forwarded: they are durable.
func (s *backend) takeBack(ctx context.Context, es []*entry) {
	if err := s.j.drop(ctx, es); err != nil {
		s.log.Error("an operation that failed stays in the journal", "err", err)
		s.q.confirm(es)
		s.wakeUp()
		return
	}
	s.q.leave(es)
}

func (s *backend) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake, or will be
	}
}

// applyLocally carries an operation out on the local copy. Repeating it changes
// nothing if those after it are repeated too. out and e may be nil.
func (s *backend) applyLocally(ctx context.Context, o *op, out *outcome, e *entry) (err error) {
	if out == nil {
		out = new(outcome)
	}
	switch o.Kind {
	case opAppend:
		var got []store.Appended
		got, err = s.local.Append(ctx, store.Batch{Workspace: o.Ref.Workspace, Calls: o.Calls, Keep: o.Keep})
		if err == nil && e != nil {
			s.q.note(e, got)
		}
	case opSettle:
		out.settled, err = s.local.Settle(ctx, o.Verdicts)
	case opCache:
		err = s.local.CacheVerdict(ctx, o.Key, o.Evaluation)
	case opDeleteTool:
		err = s.local.DeleteTool(ctx, o.Ref)
	case opDeleteWorkspace:
		out.removed, err = s.local.DeleteWorkspace(ctx, o.Ref.Workspace)
	}
	return err
}

// note keeps what the local copy said of an append.
func (q *queue) note(e *entry, got []store.Appended) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range got {
		e.calls[i].local, e.calls[i].certain = got[i], true
	}
}

// await waits for the remote store's answers, while it answers and not longer
// than Config.RemoteWait.
func (s *backend) await(ctx context.Context, es []*entry) {
	if s.away.Load() || s.slow.Load() || !s.working.Load() {
		return
	}
	t := time.NewTimer(s.cfg.RemoteWait)
	defer t.Stop()
	for _, e := range es {
		select {
		case <-e.done:
		case <-t.C:
			s.slow.Store(true)
			return
		case <-ctx.Done():
			return
		}
	}
}

// said gives the remote store's answer, nil if it is not known for certain.
func (q *queue) said(e *entry) *answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	return e.answer
}

// barrier waits until all that was accepted before is at the remote store; it
// fails as unavailable when that takes longer than Config.RemoteWait.
func (s *backend) barrier(ctx context.Context) error {
	seq := s.q.end()
	t := time.NewTimer(s.cfg.RemoteWait)
	defer t.Stop()
	for {
		ok, more := s.q.passed(seq)
		if ok {
			return nil
		}
		select {
		case <-more:
		case <-t.C:
			return s.unavailable(nil)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Drain waits until all that was accepted before is at the remote store, for as
// long as the context allows.
func (s *backend) Drain(ctx context.Context) error {
	if err := s.gate.Enter(ctx); err != nil {
		return err
	}
	defer s.gate.Leave()
	seq := s.q.end()
	for {
		ok, more := s.q.passed(seq)
		if ok {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *backend) unavailable(err error) error {
	return &memoryd.Error{
		Kind: memoryd.Unavailable, Msg: "the remote store cannot be reached, and this cannot wait for it",
		RetryAfter: s.cfg.RetryMax, Err: err,
	}
}
