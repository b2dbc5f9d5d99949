package lifecycle

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"
)

// Group runs goroutines that one caller waits for. It is an errgroup whose goroutines handle
// panics as [Do] does.
type Group struct {
	ctx   context.Context //nolint:containedctx // the group lives no longer than the call it was made for
	log   *slog.Logger
	part  string
	group *errgroup.Group
}

// NewGroup returns a group, and a context that ends with its first error or when Wait
// returns. limit limits how many goroutines run at a time; 0 means no limit.
func NewGroup(ctx context.Context, log *slog.Logger, part string, limit int) (*Group, context.Context) {
	g, ctx := errgroup.WithContext(ctx)
	if limit > 0 {
		g.SetLimit(limit)
	}
	return &Group{ctx: ctx, log: log, part: part, group: g}, ctx
}

// Go runs f as soon as the limit allows, and waits until then.
func (g *Group) Go(f func() error) {
	g.group.Go(func() error { return Do(g.ctx, g.log, g.part, f) })
}

// Wait waits for all goroutines and returns the first error.
func (g *Group) Wait() error { return g.group.Wait() }
