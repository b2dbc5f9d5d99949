package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"memoryd"
	"memoryd/internal/stats"
	"memoryd/store"
)

// Memory is what an answer contains about one tool.
type Memory struct {
	Tool       memoryd.Tool
	Statistics stats.Statistics
	// Calls are the calls to show, oldest first.
	Calls []memoryd.Call
	// AskedAs are the names by which a request asked for it.
	AskedAs []string
}

// noCalls requests a memory without calls from MemoryReader.
const noCalls = -1

// MemoryReader collects what an answer contains about a tool.
type MemoryReader struct {
	Store interface {
		store.Calls
		store.Tools
	}
	// Recent is the number of newest calls in the recent statistics.
	Recent int
}

// Read returns the memory of ref with its newest calls, oldest first: all of them if calls is 0,
// none if it is noCalls. The error for an unknown tool is NotFound.
func (r MemoryReader) Read(ctx context.Context, ref memoryd.ToolRef, calls int) (m Memory, err error) {
	d, err := r.Store.Described(ctx, ref)
	if err != nil {
		return m, err
	}
	m = Memory{Tool: d.Tool, Statistics: stats.Of(d.Samples, r.Recent, d.Counters)}
	m.Calls, err = r.history(ctx, m.Tool, calls)
	return m, err
}

// Complete adds statistics and calls to a tool; none where it was deleted meanwhile.
func (r MemoryReader) Complete(ctx context.Context, tool memoryd.Tool, calls int) (Memory, error) {
	m, err := r.Read(ctx, tool.ToolRef, calls)
	if memoryd.IsKind(err, memoryd.NotFound) {
		return Memory{Tool: tool}, nil
	}
	return m, err
}

// MaxHistoryBytes limits the texts of one tool's calls in an answer; the oldest calls beyond it are
// left out.
const MaxHistoryBytes = 4 << 20

// history reads the newest calls, oldest first, within MaxHistoryBytes: all if most is 0, none if
// it is noCalls.
func (r MemoryReader) history(ctx context.Context, tool memoryd.Tool, most int) ([]memoryd.Call, error) {
	switch most {
	case noCalls:
		return nil, nil
	case 0:
		most = tool.Kept
	}
	calls, err := r.Store.ListCalls(ctx, tool.ToolRef, store.CallPage{Limit: max(1, most)})
	slices.Reverse(calls)
	return newest(calls, len(calls)), err
}

// newest are at most so many of the last calls of a history, within MaxHistoryBytes.
func newest(calls []memoryd.Call, most int) []memoryd.Call {
	from, size := len(calls), 0
	for ; from > max(0, len(calls)-most); from-- {
		if size += store.TextBytes(&calls[from-1]); size > MaxHistoryBytes && from < len(calls) {
			break
		}
	}
	return calls[from:]
}

// NamesRequest requests tools by name, to summarise or to show them.
type NamesRequest struct {
	Workspace string
	// Tools are the requested names, in order.
	Tools []string
	// Force summarises tools even if nothing changed, Stale only if enough changed.
	Force, Stale bool
	// Session is the run that asks, as its calls name it (trajectory_id or session_id).
	Session string
	// MaxTokens limits the answer; 0 means no limit.
	MaxTokens int
	// Sections selects sections of the guideline; empty means all.
	Sections []string
	// WholeHistory includes all stored calls; otherwise RecentCalls per tool, both good and bad.
	WholeHistory bool
	RecentCalls  int
}

func (r NamesRequest) subject() memoryd.Subject {
	s := memoryd.Subject{Workspace: r.Workspace, Tools: len(r.Tools)}
	if len(r.Tools) == 1 {
		s.Tool = r.Tools[0]
	}
	return s
}

// loadedTools are the tools that a request names, without repeats and in the requested order. There
// is at least one.
type loadedTools struct {
	NamesRequest

	// Memories are the tools, without statistics and calls.
	Memories []Memory
	// Unknown are requested names without a memory.
	Unknown []string
}

// namedTools is the result of loading named tools: *loadedTools, or *Summaries of them.
type namedTools interface{ loaded() *loadedTools }

func (t *loadedTools) loaded() *loadedTools { return t }

// loadTools finds the tools of a request, and refuses one that names none that
// is known.
func (d *Deps) loadTools(ctx context.Context, r NamesRequest) (*loadedTools, error) {
	t := &loadedTools{NamesRequest: r}
	named := false
	for i, name := range r.Tools {
		if strings.TrimSpace(name) == "" || slices.Contains(r.Tools[:i], name) {
			continue
		}
		named = true
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
			t.Memories = append(t.Memories, Memory{Tool: tool, AskedAs: r.Tools[i : i+1 : i+1]})
		}
	}
	if !named {
		return nil, refuse("tool_names is required")
	}
	if len(t.Memories) == 0 {
		return nil, refuse("No matching tool memories found")
	}
	return t, nil
}
