package ops

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Params decodes the params of an op's configuration into the value that it is
// given, strictly: an unknown key or a wrong type is an error that names it.
type Params func(into any) error

// Spec is one entry of the configuration's op section.
type Spec struct {
	// Backend names the op's constructor in the catalog.
	Backend string
	// LLM names the model of the llm section that the op uses; "" means none.
	LLM    string
	Params Params
}

// Constructor builds an op from its entry.
type Constructor func(Spec) (Op, error)

// Catalog knows the ops by the name of their backend.
type Catalog map[string]Constructor

// Assemble builds the pipeline of each flow: the names in a flow are entries of
// specs, in the order in which they run. Two flows that name the same entry
// share one op.
func (c Catalog) Assemble(flows map[string][]string, specs map[string]Spec) (map[string]Pipeline, error) {
	built := map[string]Op{}
	pipelines := map[string]Pipeline{}
	for _, flow := range slices.Sorted(maps.Keys(flows)) {
		p := Pipeline{Label: flow}
		for _, name := range flows[flow] {
			op, err := c.build(built, name, specs)
			if err != nil {
				return nil, fmt.Errorf("flow.%s: %w", flow, err)
			}
			p.Ops = append(p.Ops, op)
		}
		if len(p.Ops) == 0 {
			return nil, fmt.Errorf("flow.%s: no op", flow)
		}
		pipelines[flow] = p
	}
	return pipelines, nil
}

func (c Catalog) build(built map[string]Op, name string, specs map[string]Spec) (Op, error) {
	if op, ok := built[name]; ok {
		return op, nil
	}
	spec, ok := specs[name]
	if !ok {
		return nil, fmt.Errorf("unknown op %q (the op section has %s)", name, known(specs))
	}
	construct, ok := c[spec.Backend]
	if !ok {
		return nil, fmt.Errorf("op.%s.backend: unknown %q (known: %s)", name, spec.Backend, known(c))
	}
	op, err := construct(spec)
	if err != nil {
		return nil, fmt.Errorf("op.%s: %w", name, err)
	}
	built[name] = op
	return op, nil
}

func known[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}
