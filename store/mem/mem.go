// Package mem stores tool memories in maps under one mutex. Tests use it, and compare the other
// backends with it. Its content is lost when the process ends.
package mem

import (
	"context"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
)

// Store is a store.Store in memory. Use New to create one.
type Store struct {
	store.Store // backend behind a gate
	gate        store.Drainer
}

// backend is what Store keeps; one call at a time comes to it, with checked arguments.
type backend struct {
	accepted int64 // numbers the calls of all tools in the order of acceptance
	spaces   map[string]*space
	verdicts map[[16]byte]memoryd.Evaluation
	records  map[store.RecordKey]store.Record
}

// space is one workspace.
type space struct {
	keys  map[memoryd.CallKey]string // every key ever accepted, with its tool
	tools map[string]*tool
}

// tool is one tool memory.
type tool struct {
	memoryd.Tool
	calls []*call // the kept history, oldest first
	seen  map[string]bool
}

// call is a kept call and what the store knows beside it.
type call struct {
	memoryd.Call
	run      string
	accepted int64
	lease    time.Time // claimed until then
}

// New returns an empty store.
func New() *Store {
	b := &backend{
		spaces: map[string]*space{}, verdicts: map[[16]byte]memoryd.Evaluation{},
		records: map[store.RecordKey]store.Record{},
	}
	var mu sync.Mutex
	s := &Store{}
	s.Store = s.gate.Guard(store.Intercept(b, store.Bracket{
		Begin: func(context.Context, string) error { mu.Lock(); return nil },
		End:   func(_ string, _ time.Duration, err error) error { mu.Unlock(); return err },
	}))
	return s
}

// Ping implements store.Store; it never fails.
func (s *backend) Ping(context.Context) error { return nil }

// Close implements store.Store; the content is lost.
func (s *backend) Close() error { return nil }

// space gives a workspace, made on first use.
func (s *backend) space(name string) *space {
	sp := s.spaces[name]
	if sp == nil {
		sp = &space{keys: map[memoryd.CallKey]string{}, tools: map[string]*tool{}}
		s.spaces[name] = sp
	}
	return sp
}

// find gives the tool, or nil.
func (s *backend) find(ref memoryd.ToolRef) *tool {
	sp := s.spaces[ref.Workspace]
	if sp == nil {
		return nil
	}
	return sp.tools[ref.Tool]
}

// byKey gives the kept call with the key, or nil.
func (t *tool) byKey(key memoryd.CallKey) *call {
	for _, c := range t.calls {
		if c.Key == key {
			return c
		}
	}
	return nil
}

// RestoreTool implements store.Tools.
func (s *backend) RestoreTool(ctx context.Context, t memoryd.Tool, calls []memoryd.Call) error {
	if s.find(t.ToolRef) != nil {
		return store.ToolExists()
	}
	if old := s.spaces[t.Workspace]; old != nil {
		for i := range calls {
			if _, known := old.keys[calls[i].Key]; known {
				return store.CallKnown()
			}
		}
	}
	sp := s.space(t.Workspace)
	restored := &tool{Tool: t, seen: map[string]bool{}}
	restored.Pending, restored.Kept = 0, 0
	for i := range calls {
		s.accepted++
		c := &call{Call: cloneCall(&calls[i]), run: calls[i].Run(), accepted: s.accepted}
		c.Workspace = t.Workspace
		restored.calls = append(restored.calls, c)
		restored.seen[store.ContentOf(&c.Call)] = true
		sp.keys[c.Key] = t.Tool
	}
	sp.tools[t.Tool] = restored
	return nil
}
