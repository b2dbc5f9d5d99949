package ops

import (
	"context"
	"slices"
	"sync"

	"memoryd"
	"memoryd/store"
)

// What one source may hold of a tool's history once there are others: half. It is held to
// that in steps, so that making room is rare.
const (
	mostShared = 4096  // histories that keep more calls are not watched
	mostKnown  = 20000 // tools whose sources are remembered
)

// shares bounds what one source does to a workspace: it cannot push the calls of others
// out of a tool's history. What it remembers of a tool may be
// behind the store, which only makes the bound a little softer, and while it cannot read
// or cut, calls are recorded without a bound: they come first.
type shares struct {
	store store.Store
	mu    sync.Mutex
	tools map[memoryd.ToolRef][]string // who wrote the kept calls, oldest first
}

func newShares(s store.Store) *shares {
	return &shares{store: s, tools: map[memoryd.ToolRef][]string{}}
}

// known gives the sources of a tool's kept calls; there is none for a tool that is new.
func (s *shares) known(ctx context.Context, ref memoryd.ToolRef) ([]string, bool, error) {
	s.mu.Lock()
	sources, ok := s.tools[ref]
	s.mu.Unlock()
	if ok {
		return sources, true, nil
	}
	_, err := keysOf(ctx, s.store, ref, func(c *memoryd.Call) bool {
		sources = append(sources, c.Source())
		return false
	})
	slices.Reverse(sources)
	return sources, len(sources) > 0, err
}

func (s *shares) note(ref memoryd.ToolRef, sources []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tools) >= mostKnown {
		clear(s.tools)
	}
	s.tools[ref] = sources
}

// admit makes room for calls of a batch in the histories of their tools, where their
// source has more than its share. It gives how many calls the histories keep while the
// batch comes in.
func (s *shares) admit(ctx context.Context, calls []memoryd.Call, keep int) int {
	now := keep
	if keep > mostShared {
		return now
	}
	for ref, n := range perTool(calls) {
		sources, there, err := s.known(ctx, ref)
		if err != nil || !there {
			continue
		}
		source := calls[0].Source()
		mine := countOf(sources, source)
		if mine == len(sources) || mine+n <= keep/2 || len(sources)+n <= keep {
			s.note(ref, sources)
			continue
		}
		if sources, err = s.cut(ctx, ref, source, min(mine, len(sources)+n-keep*3/4)); err != nil {
			continue
		}
		s.note(ref, sources)
		now = max(now, len(sources)+n)
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

func countOf(sources []string, source string) (n int) {
	for _, s := range sources {
		if s == source {
			n++
		}
	}
	return n
}

// cut removes the oldest n calls of a source, and says whose the others are.
func (s *shares) cut(ctx context.Context, ref memoryd.ToolRef, source string, n int) ([]string, error) {
	var sources []string
	keys, err := keysOf(ctx, s.store, ref, func(c *memoryd.Call) bool {
		sources = append(sources, c.Source())
		return c.Source() == source
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(sources)
	n = min(n, len(keys))
	if _, err := s.store.DeleteCalls(ctx, ref, keys[len(keys)-n:]); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(sources, func(of string) bool {
		gone := of == source && n > 0
		if gone {
			n--
		}
		return gone
	}), nil
}

// added takes in what became of a batch, and cuts a history that had to grow for it.
func (s *shares) added(ctx context.Context, calls []memoryd.Call, appended []store.Appended, keep int) {
	fresh := map[memoryd.ToolRef]int{}
	for i := range calls {
		if appended[i].New {
			fresh[calls[i].ToolRef]++
		}
	}
	for ref, n := range fresh {
		s.mu.Lock()
		sources, remembered := s.tools[ref]
		s.mu.Unlock()
		if !remembered {
			continue // it is read when more come
		}
		source := calls[0].Source()
		sources = append(slices.Clone(sources), slices.Repeat([]string{source}, n)...)
		if over := len(sources) - keep; over > 0 && keep <= mostShared && countOf(sources, source) > over && countOf(sources, source) < len(sources) && countOf(sources, source) > keep/2 {
			left, err := s.cut(ctx, ref, source, over)
			if err != nil {
				continue
			}
			sources = left
		}
		s.note(ref, sources[max(0, len(sources)-keep):])
	}
}
