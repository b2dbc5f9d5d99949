package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"
)

// Memory is what is known of one tool, as an answer shows it.
type Memory struct {
	Tool       memoryd.Tool
	Statistics stats.Statistics
	// Calls are the ones to show, oldest first.
	Calls []memoryd.Call
	// AskedAs are the names by which a request asked for it.
	AskedAs []string
}

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

// ReadChanged is Read for a tool that was changed a moment ago: of that, no statistics
// can be remembered.
func (r MemoryReader) ReadChanged(ctx context.Context, ref memoryd.ToolRef, calls int) (Memory, error) {
	d, err := r.Store.Described(ctx, ref)
	if err != nil {
		return Memory{}, err
	}
	m := Memory{Tool: d.Tool, Statistics: stats.Of(d.Samples, r.Recent, d.Counters)}
	r.Cache.keep(m.Tool, m.Statistics)
	if calls != NoCalls {
		m.Calls, err = r.history(ctx, d.Tool, calls)
	}
	return m, err
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
		m.Calls, err = r.history(ctx, tool, calls)
	}
	return m, err
}

// MaxHistoryBytes bounds the texts of the calls of one tool in an answer: the oldest
// beyond it are left out.
const MaxHistoryBytes = 4 << 20

// history reads the newest calls, oldest first, within MaxHistoryBytes. It reads pages,
// so that a long history of long texts is never whole in memory.
func (r MemoryReader) history(ctx context.Context, tool memoryd.Tool, most int) ([]memoryd.Call, error) {
	if most == 0 {
		most = tool.Kept
	}
	newest, err := r.Store.ListCalls(ctx, tool.ToolRef, store.CallPage{Limit: max(1, most)})
	size := 0
	for i := range newest {
		if size += store.TextBytes(&newest[i]); size > MaxHistoryBytes && i > 0 {
			newest = newest[:i]
			break
		}
	}
	slices.Reverse(newest)
	return newest, err
}

// NamesRequest asks for tools by name, to be summarised or to be shown.
type NamesRequest struct {
	Workspace string
	// Tools are the names asked for, in order.
	Tools []string
	// Force summarises also where nothing changed, Stale only where enough did.
	Force, Stale bool
	// Session is the run that asks, as its calls name it (trajectory_id, session_id).
	Session string
	// MaxTokens bounds the answer; 0 means no bound.
	MaxTokens int
	// Sections are those of a guideline that are shown; none: all.
	Sections []string
	// WholeHistory shows all kept calls; else RecentCalls of each, good and bad.
	WholeHistory bool
	RecentCalls  int
}

func (r NamesRequest) subject() Subject {
	s := Subject{Workspace: r.Workspace, Tools: len(r.Tools)}
	if len(r.Tools) == 1 {
		s.Tool = r.Tools[0]
	}
	return s
}

// LoadedTools are the tools that a request names, each once, in the order asked.
// There is at least one.
type LoadedTools struct {
	NamesRequest

	// Memories hold the tools without statistics and calls.
	Memories []Memory
	// Unknown are the names that have no memory.
	Unknown []string
}

// NamedTools is what holds the tools that a request named: *LoadedTools, and *Summaries
// of them.
type NamedTools interface{ loaded() *LoadedTools }

func (t *LoadedTools) loaded() *LoadedTools { return t }

func (library) LoadToolMemory() Definition {
	return define("load_tool_memory_op", Deps.loadTools)
}

// loadTools finds the tools of a request, and refuses one that names none that
// is known.
func (d Deps) loadTools(ctx context.Context, r NamesRequest) (*LoadedTools, error) {
	seen := map[string]bool{}
	t := &LoadedTools{NamesRequest: r}
	for _, name := range r.Tools {
		if strings.TrimSpace(name) == "" || seen[name] {
			continue
		}
		seen[name] = true
		meant, _, err := d.Names.Of(ctx, asked{ToolRef: memoryd.ToolRef{Workspace: r.Workspace, Tool: name}})
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", name, err)
		}
		if at := slices.IndexFunc(t.Memories, func(m Memory) bool { return m.Tool.Tool == meant.Tool }); at >= 0 {
			t.Memories[at].AskedAs = append(t.Memories[at].AskedAs, name)
			continue
		}
		tool, err := d.Store.Tool(ctx, meant)
		switch {
		case memoryd.IsKind(err, memoryd.NotFound):
			t.Unknown = append(t.Unknown, name)
		case err != nil:
			return nil, fmt.Errorf("tool %q: %w", name, err)
		default:
			t.Memories = append(t.Memories, Memory{Tool: tool, AskedAs: []string{name}})
		}
	}
	if len(seen) == 0 {
		return nil, refuse("tool_names is required")
	}
	if len(t.Memories) == 0 {
		return nil, refuse("No matching tool memories found")
	}
	return t, nil
}

// StatisticsCache remembers the statistics of tools that are asked for again and
// again while nothing happens to them. It is safe for concurrent use.
type StatisticsCache struct {
	most int

	mu     sync.RWMutex
	byTool map[memoryd.ToolRef]computed
}

type computed struct {
	from memoryd.Tool // without its guideline, which statistics do not depend on
	of   stats.Statistics
}

// NewStatisticsCache makes a cache for up to most tools, at about 400 bytes each.
func NewStatisticsCache(most int) *StatisticsCache {
	return &StatisticsCache{most: most, byTool: map[memoryd.ToolRef]computed{}}
}

// find gives what was computed from just this state of the tool. A nil cache
// knows nothing.
func (c *StatisticsCache) find(t memoryd.Tool) (stats.Statistics, bool) {
	if c == nil {
		return stats.Statistics{}, false
	}
	t.Guideline = memoryd.Guideline{}
	c.mu.RLock()
	defer c.mu.RUnlock()
	known, ok := c.byTool[t.ToolRef]
	return known.of, ok && known.from == t
}

// keep remembers s. A full cache begins anew: what is asked often is back at once.
func (c *StatisticsCache) keep(t memoryd.Tool, s stats.Statistics) {
	if c == nil {
		return
	}
	t.Guideline = memoryd.Guideline{}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byTool) >= c.most {
		clear(c.byTool)
	}
	c.byTool[t.ToolRef] = computed{t, s}
}
