package mem

import (
	"context"
	"slices"

	"memoryd"
	"memoryd/store"
)

// RestoreTool implements store.Tools.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.find(t.ToolRef) != nil {
		return memoryd.Errorf(memoryd.Conflict, "the tool exists already")
	}
	if old := s.spaces[t.Workspace]; old != nil {
		for i := range calls {
			if _, known := old.keys[calls[i].Key]; known {
				return memoryd.Errorf(memoryd.Conflict, "a call of the tool is known under another tool")
			}
		}
	}
	calls = slices.Clone(calls)
	store.Renumber(&t, calls)
	sp := s.space(t.Workspace)
	restored := &tool{Tool: t, seen: map[string]bool{}}
	restored.Pending, restored.Kept = 0, 0
	for i := range calls {
		s.accepted++
		c := &call{Call: cloneCall(&calls[i]), run: calls[i].Run(), accepted: s.accepted}
		c.Workspace = t.Workspace
		restored.calls = append(restored.calls, c)
		restored.seen[contentOf(&c.Call)] = true
		sp.keys[c.Key] = t.Tool
	}
	sp.tools[t.Tool] = restored
	return nil
}
