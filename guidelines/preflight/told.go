package preflight

import (
	"context"
	"slices"

	"memoryd"
	tested "memoryd/guidelines/rules"
)

// RulesOf returns the rules about failures that the calls of a tool support; an unknown tool
// has none.
func (c *Cache) RulesOf(ctx context.Context, ref memoryd.ToolRef) ([]Tested, error) {
	m, _, err := c.model(ctx, ref)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(m.options.Tested), func(t Tested) bool { return t.Effect != tested.Wrong }), nil
}
