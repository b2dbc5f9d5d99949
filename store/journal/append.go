package journal

import (
	"context"

	"memoryd/store"
)

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

// shares gives each of several appends that went as one batch its own answers. A
// tool is new to the first of them that has a call of it.
func shares(es []*entry, got []store.Appended) [][]store.Appended {
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
