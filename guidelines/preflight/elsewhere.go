package preflight

import (
	"cmp"
	"maps"
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
	// one is the only source whose good calls bear it out here, where several are known: it warns no other.
	one uint64
	all bool // it warns of the calls of all sources
}

// leastBorne is how many good calls of a tool have to give the parameter of a rule of another one.
const leastBorne = 3

// bearers are how many good calls gave a parameter, how many of them were compared with what the workspace knew, and who
// made them.
type bearers struct {
	calls, placed int
	one           uint64
	several       bool
}

func (g *bearers) add(source uint64, placed bool) {
	g.several = g.several || g.calls > 0 && g.one != source
	if g.calls, g.one = g.calls+1, source; placed {
		g.placed++
	}
}

// elsewhere lists the rules of other tools that hold for a tool as far as its own good calls show: several
// gave the parameter, and each kept to the rule. Of rules about the same, that with most calls behind it counts.
func (c *Cache) elsewhere(ref memoryd.ToolRef, obs []evidence.Observation) []Elsewhere {
	var good []*tested.Planned
	gave := map[string]bearers{}
	for i := max(0, len(obs)-tested.Compared); i < len(obs); i++ {
		if obs[i].Good() {
			p := obs[i].Planned()
			for name := range p.Parameters() {
				g := gave[name]
				g.add(obs[i].Writer, obs[i].World)
				gave[name] = g
			}
			good = append(good, p)
		}
	}
	shared := len(obs) > 0 && obs[0].Shared
	most := map[string]Elsewhere{}
	for _, other := range c.portable(ref, shared) {
		id, by := other.ID(), gave[other.Parameter]
		borne := by.calls
		if other.About() {
			borne = by.placed
		}
		if borne >= leastBorne && most[id].Calls < other.Calls && !slices.ContainsFunc(good, other.Holds) {
			other.one, other.all = by.one, by.several || !shared
			most[id] = other
		}
	}
	return slices.SortedFunc(maps.Values(most), func(a, b Elsewhere) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.ID(), b.ID()))
	})
}

// portable lists the rules on one parameter of the other tools of a workspace whose models are known, and as old as that
// one source recorded there, or several.
func (c *Cache) portable(ref memoryd.ToolRef, shared bool) (out []Elsewhere) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, other := range c.tools.Keys() {
		if other.Workspace != ref.Workspace || other.Tool == ref.Tool {
			continue
		}
		if e, _ := c.tools.Peek(other); e.model.shared == shared {
			out = slices.AppendSeq(out, maps.Values(e.portable))
		}
	}
	return out
}

// portableOf are the rules of a tool that may hold for others, by id.
func portableOf(tool string, found []Tested) map[string]Elsewhere {
	if _, named := origin.Show(origin.Warning, origin.Name, tool, maxValue); !named {
		return nil
	}
	out := map[string]Elsewhere{}
	for i := range found {
		if found[i].Portable() {
			out[found[i].ID()] = Elsewhere{Tested: found[i], Tool: tool}
		}
	}
	return out
}

// standing are the rules of other tools that hold for a tool, and that these still have.
func (c *Cache) standing(ref memoryd.ToolRef, m *Model) (out []Elsewhere) {
	c.mu.Lock()
	defer c.mu.Unlock()
	own, ok := c.tools.Peek(ref)
	if !ok || own.model != m {
		return nil
	}
	for i := range own.borne {
		other := &own.borne[i]
		e, ok := c.tools.Peek(memoryd.ToolRef{Workspace: ref.Workspace, Tool: other.Tool})
		if !ok || e.model.shared != m.shared {
			continue
		}
		if _, has := e.portable[other.ID()]; has {
			out = append(out, *other)
		}
	}
	return out
}
