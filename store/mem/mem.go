// Package mem keeps tool memories in maps under one mutex. It is the reference
// that the other backends are compared with, and the test double; nothing in it
// survives the process.
package mem

import (
	"context"
	"fmt"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"
)

var _ store.Store = (*Store)(nil)

// Store is a store.Store in memory. Use New to make one.
type Store struct {
	mu       sync.Mutex
	closed   bool
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

// New makes an empty store.
func New() *Store {
	return &Store{
		spaces: map[string]*space{}, verdicts: map[[16]byte]memoryd.Evaluation{},
		records: map[store.RecordKey]store.Record{},
	}
}

// Ping reports whether the store is open.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	return nil
}

// Close ends the store; what it held is gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

// enter takes the lock, unless the context has ended or the store is closed.
func (s *Store) enter(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("store: %w", context.Cause(ctx))
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return memoryd.Errorf(memoryd.Closed, "the store is closed")
	}
	return nil
}

// space gives a workspace, made on first use.
func (s *Store) space(name string) *space {
	sp := s.spaces[name]
	if sp == nil {
		sp = &space{keys: map[memoryd.CallKey]string{}, tools: map[string]*tool{}}
		s.spaces[name] = sp
	}
	return sp
}

// find gives the tool, or nil.
func (s *Store) find(ref memoryd.ToolRef) *tool {
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
