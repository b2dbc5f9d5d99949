package ops

import (
	"context"
	"fmt"
	"strings"

	"memoryd"
	"memoryd/store"
)

// LoadToolMemory finds the tools that a request names, each once, in the order
// asked, and notes the names that have no memory.
type LoadToolMemory struct {
	Store store.Tools
}

// Name implements Op.
func (LoadToolMemory) Name() string { return "load_tool_memory_op" }

// Run implements Op.
func (o LoadToolMemory) Run(ctx context.Context, st *State) error {
	seen := map[string]bool{}
	for _, name := range st.Names.Tools {
		if strings.TrimSpace(name) == "" || seen[name] {
			continue
		}
		seen[name] = true
		tool, err := o.Store.Tool(ctx, memoryd.ToolRef{Workspace: st.Workspace, Tool: name})
		switch {
		case memoryd.IsKind(err, memoryd.NotFound):
			st.Result.Unknown = append(st.Result.Unknown, name)
		case err != nil:
			return fmt.Errorf("tool %q: %w", name, err)
		default:
			st.Result.Memories = append(st.Result.Memories, Memory{Tool: tool})
		}
	}
	if len(seen) == 0 {
		return refuse("tool_names is required")
	}
	if len(st.Result.Memories) == 0 {
		return refuse("No matching tool memories found")
	}
	return nil
}
