package window

import (
	"context"
	"fmt"

	"memoryd/guidelines/evidence"
)

// What of a workspace is read when its world is asked for first, after a start or when something was forgotten.
const (
	worldTools = 128      // by name
	worldCalls = 100      // the newest of each
	worldBytes = 16 << 20 // of outputs: no tool is begun beyond
)

// World implements evidence.Window.
func (w *Window) World(ctx context.Context, workspace string) (*evidence.World, error) {
	if world, known := w.worlds.Get(workspace); known {
		return world, nil
	}
	world := evidence.NewWorld()
	reader := evidence.NewObserver().Teach(world)
	tools, err := w.store.ListTools(ctx, workspace, "", worldTools)
	if err != nil {
		return nil, fmt.Errorf("the tools of %q: %w", workspace, err)
	}
	read := 0
	for i := range tools {
		if read > worldBytes {
			break
		}
		calls, err := w.store.History(ctx, tools[i].ToolRef, worldCalls)
		if err != nil {
			return nil, fmt.Errorf("the calls of %q: %w", tools[i].Tool, err)
		}
		for k := range calls {
			reader.Observe(&calls[k])
			read += len(calls[k].Output)
		}
	}
	if first, known, _ := w.worlds.PeekOrAdd(workspace, world); known {
		return first, nil
	}
	return world, nil
}
