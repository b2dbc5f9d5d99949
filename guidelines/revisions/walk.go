package revisions

import (
	"context"
	"time"

	"memoryd"
)

// walk is a round under way.
type walk struct {
	r     *Rounds
	until time.Time // the end of the lease
	did   Round
	seen  State
	later []memoryd.ToolRef // tools of the workspace that may borrow from the others
}

// meet looks at a tool, or leaves it for the workspace's end: what others may
// borrow from has to be there first.
func (w *walk) meet(ctx context.Context, tool memoryd.Tool) error {
	w.seen.see(tool, w.r.curator.Now())
	switch g := tool.Guideline; {
	case g.Revision > 0 && g.BasedOn == tool.Revision:
		return w.keep(ctx)
	case !Lends(int64(tool.Kept), tool.Pending):
		w.later = append(w.later, tool.ToolRef)
		return w.keep(ctx)
	}
	return w.visit(ctx, tool.ToolRef)
}

// catchUp looks at the tools that were left.
func (w *walk) catchUp(ctx context.Context) error {
	later := w.later
	w.later = nil
	for _, ref := range later {
		if err := w.visit(ctx, ref); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) visit(ctx context.Context, ref memoryd.ToolRef) error {
	if err := w.keep(ctx); err != nil || w.did.Written+w.did.Failed >= w.r.curator.Config.PerRound {
		return err
	}
	w.did.Looked++
	return w.r.tool(ctx, ref, &w.did)
}

// keep renews the lease when half of it has passed: a round may take longer.
func (w *walk) keep(ctx context.Context) error {
	if w.r.curator.Now().Before(w.until.Add(-w.r.term() / 2)) {
		return nil
	}
	until, err := w.r.lease(ctx)
	if err != nil {
		return err
	}
	if until.IsZero() {
		return errElsewhere
	}
	w.until = until
	return nil
}
