package revisions

import (
	"context"

	"memoryd"
	"memoryd/guidelines/versions"
)

// Show is the guideline that a session is shown: the newest, or, while that is
// being compared with the version before it, one of the two, always the same for
// the same session. With maxTokens above 0 it holds the most valuable statements
// that fit, else the whole text.
func (c *Curator) Show(ctx context.Context, tool memoryd.Tool, session string, maxTokens int) (memoryd.Guideline, error) {
	g := tool.Guideline
	if g.Revision == 0 || c.Config.ABShare >= 1 && maxTokens <= 0 {
		return g, nil
	}
	e, err := c.current(ctx, tool)
	if err != nil {
		return g, err
	}
	if c.Config.ABShare < 1 {
		if e, err = c.arm(ctx, tool, e, session); err != nil {
			return g, err
		}
	}
	shown := e.guideline()
	shown.Revision = e.Revision
	if maxTokens > 0 && e.Document != nil {
		shown.Content = e.Document.Within(maxTokens)
	}
	return shown, nil
}

// arm gives the session's side of the comparison of e with the version before.
func (c *Curator) arm(ctx context.Context, tool memoryd.Tool, e Edition, session string) (Edition, error) {
	if e.Revision < 2 || e.RolledBackTo > 0 {
		return e, nil
	}
	st, _, err := c.standing(ctx, tool.ToolRef)
	if err != nil || st.Pinned > 0 || st.Proven == e.Revision {
		return e, err
	}
	experiment := tool.MemoryID() + editionKey(tool.ToolRef, e.Revision).ID
	if versions.Assign(experiment, session, c.Config.ABShare) == versions.Cur {
		return e, nil
	}
	prev, err := c.Edition(ctx, tool.ToolRef, e.Revision-1)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return e, nil
	}
	return prev, err
}
