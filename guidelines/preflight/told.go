package preflight

import (
	"context"

	"memoryd"
)

// RulesOf gives the rules that the calls of a tool bear out; a tool that is not known has
// none.
func (c *Cache) RulesOf(ctx context.Context, ref memoryd.ToolRef) ([]Tested, error) {
	m, _, err := c.model(ctx, ref)
	if err != nil {
		return nil, err
	}
	return m.options.Tested, nil
}

// IsTested reports whether a warning goes by a rule that calls bear out.
func (w *Warning) IsTested() bool { return w.Rule == testedRule }
