package ops

import (
	"context"
	"slices"
	"sync"

	"memoryd"
	"memoryd/store"
)

// One source may hold half of a tool's history if there are others. The limit is enforced in steps,
// so that calls are rarely removed.
const (
	mostShared = 4096  // histories that keep more calls are not watched
	mostKnown  = 20000 // tools whose sources are remembered
)

// sourceLimits bounds what one source does to a workspace: it cannot push the calls of others
// out of a tool's history. What it remembers of a tool may be
// behind the store, which only makes the bound a little softer, and while it cannot read
// or cut, calls are recorded without a bound: they come first.
type sourceLimits struct {
	store store.Store
	keyed func() bool // whether there may be sources that differ; nil: there may
	mu    sync.Mutex
	tools map[memoryd.ToolRef]writers
}

// writers are who wrote the kept calls of a tool, oldest first, in runs of one source.
// They are not changed once they are noted.
type writers []sourceRun

type sourceRun struct {
	source string
	calls  int
}

// with are the writers with n calls of a source after them; it may be written over w.
func (w writers) with(source string, n int) writers {
	if last := len(w) - 1; last >= 0 && w[last].source == source {
		w[last].calls += n
		return w
	}
	return append(w, sourceRun{source, n})
}

// newest are the writers of the newest n calls.
func (w writers) newest(n int) writers {
	gone := w.calls() - n
	for len(w) > 0 && gone >= w[0].calls {
		gone -= w[0].calls
		w = w[1:]
	}
	if gone > 0 {
		w = slices.Clone(w)
		w[0].calls -= gone
	}
	return w
}

func (w writers) calls() (n int) {
	for _, s := range w {
		n += s.calls
	}
	return n
}

// of counts the calls of a source.
func (w writers) of(source string) (n int) {
	for _, s := range w {
		if s.source == source {
			n += s.calls
		}
	}
	return n
}

func newSourceLimits(s store.Store, keyed func() bool) *sourceLimits {
	return &sourceLimits{store: s, keyed: keyed, tools: map[memoryd.ToolRef]writers{}}
}

// known gives the writers of a tool's kept calls; there is none for a tool that is new.
func (s *sourceLimits) known(ctx context.Context, ref memoryd.ToolRef) (writers, bool, error) {
	s.mu.Lock()
	w, ok := s.tools[ref]
	s.mu.Unlock()
	if ok {
		return w, true, nil
	}
	_, w, err := s.read(ctx, ref, func(*memoryd.Call) bool { return false })
	return w, len(w) > 0, err
}

// read gives the writers of a tool's kept calls, and the keys, newest first, of the calls
// that are wanted.
func (s *sourceLimits) read(ctx context.Context, ref memoryd.ToolRef, want func(*memoryd.Call) bool) ([]memoryd.CallKey, writers, error) {
	var sources []string
	keys, err := keysOf(ctx, s.store, ref, func(c *memoryd.Call) bool {
		sources = append(sources, c.Source())
		return want(c)
	})
	var w writers
	for _, source := range slices.Backward(sources) {
		w = w.with(source, 1)
	}
	return keys, w, err
}

func (s *sourceLimits) note(ref memoryd.ToolRef, w writers) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tools) >= mostKnown {
		clear(s.tools)
	}
	s.tools[ref] = w
}

// admit makes room for calls of a batch in the histories of their tools, where their
// source has more than its share. It gives how many calls the histories keep while the
// batch comes in.
func (s *sourceLimits) admit(ctx context.Context, calls []memoryd.Call, keep int) int {
	now := keep
	if keep > mostShared || s.keyed != nil && !s.keyed() {
		return now
	}
	for ref, n := range perTool(calls) {
		w, there, err := s.known(ctx, ref)
		if err != nil || !there {
			continue
		}
		source := calls[0].Source()
		mine, all := w.of(source), w.calls()
		if mine == all || mine+n <= keep/2 || all+n <= keep {
			s.note(ref, w)
			continue
		}
		if w, err = s.cut(ctx, ref, source, min(mine, all+n-keep*3/4)); err != nil {
			continue
		}
		s.note(ref, w)
		now = max(now, w.calls()+n)
	}
	return now
}

func perTool(calls []memoryd.Call) map[memoryd.ToolRef]int {
	n := map[memoryd.ToolRef]int{}
	for i := range calls {
		n[calls[i].ToolRef]++
	}
	return n
}

// cut removes the oldest n calls of a source, and says whose the others are.
func (s *sourceLimits) cut(ctx context.Context, ref memoryd.ToolRef, source string, n int) (writers, error) {
	keys, w, err := s.read(ctx, ref, func(c *memoryd.Call) bool { return c.Source() == source })
	if err != nil {
		return nil, err
	}
	n = min(n, len(keys))
	if _, err := s.store.DeleteCalls(ctx, ref, keys[len(keys)-n:]); err != nil {
		return nil, err
	}
	var left writers
	for _, run := range w {
		if run.source == source {
			gone := min(n, run.calls)
			n, run.calls = n-gone, run.calls-gone
		}
		if run.calls > 0 {
			left = left.with(run.source, run.calls)
		}
	}
	return left, nil
}

// added takes in what became of a batch, and cuts a history that had to grow for it.
func (s *sourceLimits) added(ctx context.Context, calls []memoryd.Call, appended []store.Appended, keep int) {
	fresh := map[memoryd.ToolRef]int{}
	for i := range calls {
		if appended[i].New {
			fresh[calls[i].ToolRef]++
		}
	}
	for ref, n := range fresh {
		s.mu.Lock()
		w, remembered := s.tools[ref]
		s.mu.Unlock()
		if !remembered {
			continue // it is read when more come
		}
		source := calls[0].Source()
		w = slices.Clone(w).with(source, n)
		mine, all := w.of(source), w.calls()
		if over := all - keep; over > 0 && keep <= mostShared && mine > over && mine < all && mine > keep/2 {
			left, err := s.cut(ctx, ref, source, over)
			if err != nil {
				continue
			}
			w = left
		}
		s.note(ref, w.newest(keep))
	}
}
