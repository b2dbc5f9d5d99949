package journal

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"memoryd"
)

// waiting is what the operations that wait mean for a tool.
type waiting struct {
	any bool
	// gone says that a deletion waits: of what the remote store knows of the
	// tool nothing counts, and the local copy has all that came later.
	gone    bool
	appends []waitingAppend
}

// waitingAppend is what an append holds for one tool, and how many calls it wants
// kept.
type waitingAppend struct {
	calls []call
	keep  int
}

// waitingFor looks at what waits for a tool, at one moment.
func (q *queue) waitingFor(ref memoryd.ToolRef) waiting {
	q.mu.Lock()
	defer q.mu.Unlock()
	var w waiting
	w.gone = len(q.byTool[memoryd.ToolRef{Workspace: ref.Workspace}]) > 0
	w.any = w.gone
	if ref.Tool == "" {
		return w
	}
	for _, e := range q.byTool[ref] {
		w.any = true
		w.gone = w.gone || e.kind == opDeleteTool
		if e.kind != opAppend {
			continue
		}
		a := waitingAppend{keep: e.keep}
		for _, c := range e.calls {
			if c.tool == ref.Tool {
				a.calls = append(a.calls, c)
			}
		}
		w.appends = append(w.appends, a)
	}
	return w
}

// touched gives the names of the workspace's tools for which operations wait, in
// order, and whether its deletion waits.
func (q *queue) touched(workspace string) (tools []string, gone bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ref := range q.byTool {
		if ref.Workspace != workspace {
			continue
		}
		if ref.Tool == "" {
			gone = true
		} else {
			tools = append(tools, ref.Tool)
		}
	}
	slices.Sort(tools)
	return tools, gone
}

// touchedSpaces gives the workspaces for which operations wait, in order.
func (q *queue) touchedSpaces() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	seen := map[string]bool{}
	for ref := range q.byTool {
		seen[ref.Workspace] = true
	}
	return slices.SortedFunc(maps.Keys(seen), strings.Compare)
}

// caching tells whether a verdict of that key waits.
func (q *queue) caching(key [16]byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byCache[key] != nil
}

// backlog gives how much waits.
func (q *queue) backlog() (operations, weight int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries), q.weight
}

// oldest gives when the first that waits was accepted; zero when nothing does.
func (q *queue) oldest() time.Time {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.entries) == 0 {
		return time.Time{}
	}
	return q.entries[0].at
}

// after gives the operations with greater numbers.
func (q *queue) after(seq int64) []*entry {
	q.mu.Lock()
	defer q.mu.Unlock()
	i, _ := slices.BinarySearchFunc(q.entries, seq+1, func(e *entry, seq int64) int { return cmp.Compare(e.seq, seq) })
	return slices.Clone(q.entries[i:])
}
