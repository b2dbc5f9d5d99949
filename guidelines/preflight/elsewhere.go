package preflight

import (
	"cmp"
	"slices"

	"memoryd"
	"memoryd/guidelines/evidence"
	tested "memoryd/guidelines/rules"
	"memoryd/internal/origin"
)

// Elsewhere is a rule of another tool of the workspace, on a parameter that this tool has, too.
type Elsewhere struct {
	Tested

	Tool string
}

// leastBorne is how many good calls of a tool have to keep to a rule of another one.
const leastBorne = 3

// elsewhere lists the rules of other tools that hold for a tool as far as its own good calls show: several
// gave the parameter, and each kept to the rule. Of rules about the same, that with most calls behind it counts.
func (c *Cache) elsewhere(ref memoryd.ToolRef, obs []evidence.Observation) []Elsewhere {
	var good []*tested.Planned
	gave, placed := map[string]int{}, true
	for i := max(0, len(obs)-tested.Compared); i < len(obs); i++ {
		if obs[i].Good() {
			p := obs[i].Planned()
			for name := range p.Parameters() {
				gave[name]++
			}
			good, placed = append(good, p), placed && p.Placed()
		}
	}
	most := map[string]Elsewhere{}
	for _, other := range c.portable(ref) {
		id, known := other.ID(), gave[other.Parameter] >= leastBorne && (placed || !other.About())
		if known && most[id].Calls < other.Calls && !slices.ContainsFunc(good, other.Holds) {
			most[id] = other
		}
	}
	list := make([]Elsewhere, 0, len(most))
	for _, r := range most {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b Elsewhere) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID(), b.ID())) })
	return list
}

// portable lists the rules on one parameter of the other tools of a workspace whose models are known.
func (c *Cache) portable(ref memoryd.ToolRef) (out []Elsewhere) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.tools.Keys() {
		_, named := origin.Show(origin.Warning, origin.Name, other.Tool, maxValue)
		if other.Workspace != ref.Workspace || other.Tool == ref.Tool || !named {
			continue
		}
		e, _ := c.tools.Peek(other)
		for _, t := range e.model.options.Tested {
			if t.Portable() {
				out = append(out, Elsewhere{t, other.Tool})
			}
		}
	}
	return out
}
