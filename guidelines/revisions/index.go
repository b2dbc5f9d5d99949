package revisions

import (
	"context"

	"memoryd"
)

// Index finds tools by their guidelines. Its methods wait for no model, and what
// fails in them is its own affair.
type Index interface {
	// Wrote is told of each guideline after it was written.
	Wrote(ref memoryd.ToolRef)
	// Saw is told of all tools when the rounds look at them: those of a workspace
	// whose names come after a name, in byte order; last says that there are no more.
	Saw(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool)
}

func (c *Curator) wrote(ref memoryd.ToolRef) {
	if c.Index != nil {
		c.Index.Wrote(ref)
	}
}

func (c *Curator) saw(ctx context.Context, workspace, after string, tools []memoryd.Tool, last bool) {
	if c.Index != nil {
		c.Index.Saw(ctx, workspace, after, tools, last)
	}
}
