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
		s.log.ErrorContext(ctx, "an operation that failed stays in the journal", "err", err)
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
	limited, cancel := context.WithTimeout(ctx, s.cfg.RemoteWait)
	defer cancel()
	err := s.drained(limited)
	if err != nil && ctx.Err() == nil {
		err = s.unavailable()
	}
	return err
}

// Drain waits until all that was accepted before is at the remote store, for as
// long as the context allows.
func (s *backend) Drain(ctx context.Context) error {
	if err := s.drainer.Enter(ctx); err != nil {
		return err
	}
	defer s.drainer.Leave()
	return s.drained(ctx)
}

func (s *backend) drained(ctx context.Context) error {
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

func (s *backend) unavailable() error {
	return &memoryd.Error{
		Kind: memoryd.Unavailable, Msg: "the remote store cannot be reached, and this cannot wait for it",
		RetryAfter: s.cfg.RetryMax,
	}
}

// Append implements store.Calls. What it acknowledged is on the local disk. The
// answers are the remote store's if that took the batch at the first try and in
// time; otherwise they say what this process knows.
func (s *backend) Append(ctx context.Context, b store.Batch) ([]store.Appended, error) {
	if err := s.rememberKeep(ctx, b.Keep); err != nil {
		return nil, err
	}
	es, _, err := s.accept(ctx, split(b)...)
	if err != nil {
		return nil, err
	}
	s.await(ctx, es)
	return s.appended(es), nil
}

// rememberKeep makes the length of histories known to repairs after a restart.
func (s *backend) rememberKeep(ctx context.Context, keep int) error {
	if s.keep.Swap(int64(keep)) == int64(keep) {
		return nil
	}
	return s.j.setMark(context.WithoutCancel(ctx), markKeep, int64(keep))
}

// appended gathers the answers for a batch that may have been split.
func (s *backend) appended(es []*entry) []store.Appended {
	var out []store.Appended
	fresh := map[string]bool{}
	for _, e := range es {
		said := s.q.said(e)
		for i, c := range e.calls {
			a := c.local
			if said != nil {
				a = said.appended[i]
			}
			if fresh[c.tool] = fresh[c.tool] || a.FirstOfTool; fresh[c.tool] {
				a.FirstOfTool = true
			}
			out = append(out, a)
		}
	}
	return out
}

// splitAppended gives each of several appends that went as one batch its own answers. A
// tool is new to the first of them that has a call of it.
func splitAppended(es []*entry, got []store.Appended) [][]store.Appended {
	out := make([][]store.Appended, len(es))
	met := map[string]bool{}
	at := 0
	for i, e := range es {
		out[i] = got[at : at+len(e.calls) : at+len(e.calls)]
		at += len(e.calls)
		for j, c := range e.calls {
			if met[c.tool] {
				out[i][j].FirstOfTool = false
			}
		}
		for _, c := range e.calls {
			met[c.tool] = true
		}
	}
	return out
}

// DeleteTool implements store.Tools: at once in the local copy, and at the remote
// store in its turn.
func (s *backend) DeleteTool(ctx context.Context, ref memoryd.ToolRef) error {
	if ref.Workspace == "" || ref.Tool == "" {
		return nil // no tool has that name
	}
	es, _, err := s.accept(ctx, &op{Kind: opDeleteTool, Ref: ref})
	if err != nil {
		return err
	}
	s.guidelines.forget(ref)
	s.await(ctx, es)
	return nil
}

// DeleteWorkspace implements store.Tools. While the remote store is away it
// reports how many tools the local copy had.
func (s *backend) DeleteWorkspace(ctx context.Context, workspace string) (int, error) {
	if workspace == "" {
		return 0, nil
	}
	ref := memoryd.ToolRef{Workspace: workspace}
	es, outs, err := s.accept(ctx, &op{Kind: opDeleteWorkspace, Ref: ref})
	if err != nil {
		return 0, err
	}
	s.guidelines.forget(ref)
	s.await(ctx, es)
	if said := s.q.said(es[0]); said != nil {
		return said.removed, nil
	}
	return outs[0].removed, nil
}

// PutGuideline implements store.Tools. The remote store compares; while it is
// away this fails as unavailable.
func (s *backend) PutGuideline(ctx context.Context, ref memoryd.ToolRef, g memoryd.Guideline, expect int64) error {
	return s.firmlyDone(ctx, func(ctx context.Context) error {
		err := s.remote.PutGuideline(ctx, ref, g, expect)
		if err == nil {
			g.Revision = expect + 1
			s.keepGuideline(ctx, memoryd.Tool{ToolRef: ref, Guideline: g})
		}
		return err
	})
}

// RestoreTool implements store.Tools. The remote store decides; while it is away
// this fails as unavailable. What the local copy had of the tool is replaced.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	return s.firmlyDone(ctx, func(ctx context.Context) error {
		unlock := s.order.lock([]memoryd.ToolRef{t.ToolRef})
		defer unlock()
		if err := s.barrier(ctx); err != nil {
			return err
		}
		if err := s.remote.RestoreTool(ctx, t, calls); err != nil {
			return err
		}
		s.guidelines.forget(t.ToolRef)
		ctx = context.WithoutCancel(ctx)
		err := s.local.DeleteTool(ctx, t.ToolRef)
		if err == nil {
			err = s.local.RestoreTool(ctx, t, calls)
		}
		if err != nil {
			s.log.WarnContext(ctx, "a restored tool is not in the local copy", "err", err)
			return nil
		}
		s.keepGuideline(ctx, t)
		return nil
	})
}
