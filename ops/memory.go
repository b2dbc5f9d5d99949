package ops

import (
	"context"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"
)

// NoCalls asks MemoryReader for a memory without its calls.
const NoCalls = -1

// MemoryReader puts together what an answer shows of a tool.
type MemoryReader struct {
	Store interface {
		store.Calls
		store.Tools
	}
	// Recent is how many of the newest calls the recent statistics cover.
	Recent int
	// Cache may hold statistics; nil holds none.
	Cache *StatisticsCache
}

// Read returns the memory of ref with its newest calls calls, oldest first: all
// of them for 0, none for NoCalls. An unknown tool is NotFound.
func (r MemoryReader) Read(ctx context.Context, ref memoryd.ToolRef, calls int) (Memory, error) {
	tool, err := r.Store.Tool(ctx, ref)
	if err != nil {
		return Memory{}, err
	}
	return r.Complete(ctx, tool, calls)
}

// Complete adds statistics and calls to a tool.
func (r MemoryReader) Complete(ctx context.Context, tool memoryd.Tool, calls int) (Memory, error) {
	kept, known := r.Cache.find(tool)
	if !known {
		samples, err := r.Store.Samples(ctx, tool.ToolRef)
		if err != nil {
			return Memory{}, err
		}
		kept = stats.Of(samples, r.Recent, tool.Counters)
		r.Cache.keep(tool, kept)
	}
	m := Memory{Tool: tool, Statistics: kept}
	var err error
	if calls != NoCalls {
		m.Calls, err = r.Store.History(ctx, tool.ToolRef, calls)
	}
	return m, err
}
