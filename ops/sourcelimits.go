package ops

import (
	"context"
	"sync"

	"memoryd"
	"memoryd/store"

	lru "github.com/hashicorp/golang-lru/v2"
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
	keyed func() bool // whether there may be sources that differ

	mu    sync.Mutex
	tools *lru.Cache[memoryd.ToolRef, writers]
}

// writers counts the calls of a history by source: no fewer than it keeps.
type writers map[string]int

func (w writers) calls() (n int) {
	for _, of := range w {
		n += of
	}
	return n
}

// crowds reports whether n more calls of a source could push out those of others, of which
// it has its share.
func (w writers) crowds(source string, n, keep int) bool {
	mine, all := w[source], w.calls()
	return mine < all && mine+n > keep/2 && all+n > keep
}

func newSourceLimits(s store.Store, keyed func() bool) *sourceLimits {
	tools, _ := lru.New[memoryd.ToolRef, writers](mostKnown) // fails for none
	return &sourceLimits{store: s, keyed: keyed, tools: tools}
}

// watches reports whether histories of this length are held to the limit.
func (s *sourceLimits) watches(keep int) bool {
	return keep <= mostShared && s.keyed()
}

// fits reports whether what is remembered of a tool says that there is room for n calls
// more of a source.
func (s *sourceLimits) fits(ref memoryd.ToolRef, source string, n, keep int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	w, known := s.tools.Get(ref)
	return known && !w.crowds(source, n, keep)
}

// cut removes the oldest calls of a source of which there are too many, and says how many
// calls the history holds then.
func (s *sourceLimits) cut(ctx context.Context, ref memoryd.ToolRef, source string, many func(writers) int) (left int, err error) {
	w := writers{}
	own, err := keysOf(ctx, s.store, ref, func(c *memoryd.Call) bool {
		w[c.Source()]++
		return c.Source() == source
	})
	n := min(many(w), len(own))
	if err == nil && n > 0 {
		_, err = s.store.DeleteCalls(ctx, ref, own[len(own)-n:])
		w[source] -= n
	}
	if left = w.calls(); err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.tools.Add(ref, w)
	}
	return left, err
}

// admit makes room for calls of a batch in the histories of their tools, where their
// source has more than its share. It gives how many calls the histories keep while the
// batch comes in, and how many of the source's are then too many.
func (s *sourceLimits) admit(ctx context.Context, source string, calls []memoryd.Call, keep int) (now int, over map[memoryd.ToolRef]int) {
	now = keep
	if !s.watches(keep) {
		return now, nil
	}
	over = map[memoryd.ToolRef]int{}
	for ref, n := range perTool(calls, nil) {
		if s.fits(ref, source, n, keep) {
			continue
		}
		crowded := false
		left, err := s.cut(ctx, ref, source, func(w writers) int {
			if crowded = w.crowds(source, n, keep); crowded {
				return w.calls() + n - keep*3/4
			}
			return 0
		})
		if err == nil && crowded {
			over[ref] = left + n - keep
			now = max(now, left+n)
		}
	}
	return now, over
}

// perTool counts calls, or those of them that are new.
func perTool(calls []memoryd.Call, appended []store.Appended) map[memoryd.ToolRef]int {
	n := map[memoryd.ToolRef]int{}
	for i := range calls {
		if appended == nil || appended[i].New {
			n[calls[i].ToolRef]++
		}
	}
	return n
}

// added takes in what became of a batch, and cuts the histories that had to grow for it.
func (s *sourceLimits) added(ctx context.Context, source string, calls []memoryd.Call, appended []store.Appended, keep int,
	over map[memoryd.ToolRef]int,
) {
	for ref, n := range perTool(calls, appended) {
		s.mu.Lock()
		if w, known := s.tools.Get(ref); known {
			w[source] += n
		}
		s.mu.Unlock()
		if over[ref] > 0 {
			_, _ = s.cut(ctx, ref, source, func(w writers) int { return w.calls() - keep }) // what is not cut is pushed out later
		}
	}
}
