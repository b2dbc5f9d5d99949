package search

import (
	"sync"

	"memoryd"
)

// queue holds the tools whose vectors have to be looked at, each once.
type queue struct {
	most int
	wake chan struct{} // holds one when something was added

	mu      sync.Mutex
	n       int
	waiting map[string]map[string]struct{} // names by workspace
}

func newQueue(most int) *queue {
	return &queue{most: most, wake: make(chan struct{}, 1), waiting: map[string]map[string]struct{}{}}
}

// add puts the tools in; those for which there is no room are left out.
func (q *queue) add(refs ...memoryd.ToolRef) {
	q.mu.Lock()
	for _, ref := range refs {
		names := q.waiting[ref.Workspace]
		if _, known := names[ref.Tool]; known || q.n >= q.most {
			continue
		}
		if names == nil {
			names = map[string]struct{}{}
			q.waiting[ref.Workspace] = names
		}
		names[ref.Tool] = struct{}{}
		q.n++
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes up to n tools of one workspace. Which is left to chance, as Go's
// maps are: several servers that found the same vectors missing rarely make the
// same ones at a time, and no workspace waits for the end of another.
func (q *queue) take(n int) []memoryd.ToolRef {
	q.mu.Lock()
	defer q.mu.Unlock()
	var refs []memoryd.ToolRef
	for workspace, names := range q.waiting {
		for name := range names {
			if len(refs) == n {
				return refs
			}
			delete(names, name)
			q.n--
			refs = append(refs, memoryd.ToolRef{Workspace: workspace, Tool: name})
		}
		delete(q.waiting, workspace)
		return refs
	}
	return nil
}
