package search

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"memoryd"
	"memoryd/store"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// errTooMany is why a workspace is searched without vectors.
var errTooMany = errors.New("the workspace's vectors do not fit into search.cache_bytes")

// vectorCache keeps the vectors of the workspaces that were searched last, for a while.
type vectorCache struct {
	keep time.Duration
	most int64
	now  func() time.Time
	read func(ctx context.Context, workspace string, most int64) (*vectorSet, error)
	// reading bounds how many workspaces are read at a time, and so what is in
	// memory beside what is kept.
	reading chan struct{}

	mu    sync.Mutex
	slots *simplelru.LRU[string, *slot]
	bytes int64
}

// slot is the place of one workspace.
type slot struct {
	workspace string
	// turn is held by who reads the vectors; the others wait for what it finds.
	turn      chan struct{}
	written   int // how often what is in the store became another
	at        time.Time
	vectorSet *vectorSet // nil: not read yet
	err       error      // errTooMany, or nil
}

// readersMost is how many workspaces are read at a time.
const readersMost = 4

// slotBytes is what a workspace costs without vectors.
const slotBytes = 512

func newVectorCache(keep time.Duration, most int64, now func() time.Time, read func(context.Context, string, int64) (*vectorSet, error)) *vectorCache {
	slots, _ := simplelru.NewLRU[string, *slot](math.MaxInt, nil) // makeRoom bounds it
	return &vectorCache{keep: keep, most: most, now: now, read: read, reading: make(chan struct{}, readersMost), slots: slots}
}

// get gives the vectors of the workspace, as they were at most keep ago.
func (s *vectorCache) get(ctx context.Context, workspace string) (*vectorSet, error) {
	sl := s.slot(workspace)
	if v, err, ok := s.cached(sl); ok {
		return v, err
	}
	for _, turn := range []chan struct{}{sl.turn, s.reading} {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if v, err, ok := s.cached(sl); ok {
			return v, err // somebody else has read them meanwhile
		}
	}
	s.mu.Lock()
	before, at := sl.written, s.now()
	s.mu.Unlock()
	v, err := s.read(ctx, workspace, s.most)
	if err == nil || errors.Is(err, errTooMany) {
		s.put(sl, v, err, before, at)
	}
	return v, err
}

// slot finds or makes the workspace's place and marks it as used.
func (s *vectorCache) slot(workspace string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	sl, ok := s.slots.Get(workspace)
	if !ok {
		sl = &slot{workspace: workspace, turn: make(chan struct{}, 1)}
		s.slots.Add(workspace, sl)
		s.bytes += slotBytes
		s.makeRoom()
	}
	return sl
}

func (s *vectorCache) cached(sl *slot) (*vectorSet, error, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := (sl.vectorSet != nil || sl.err != nil) && s.now().Sub(sl.at) < s.keep
	return sl.vectorSet, sl.err, ok
}

// put keeps what was read at a time, unless something was written meanwhile.
func (s *vectorCache) put(sl *slot, v *vectorSet, err error, before int, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now, _ := s.slots.Peek(sl.workspace); now != sl || sl.written != before {
		return
	}
	s.empty(sl)
	sl.vectorSet, sl.err, sl.at = v, err, at
	if v != nil {
		s.bytes += v.bytes
	}
	s.makeRoom()
}

// empty lets go of what a slot holds.
func (s *vectorCache) empty(sl *slot) {
	if sl.vectorSet != nil {
		s.bytes -= sl.vectorSet.bytes
	}
	sl.vectorSet, sl.err = nil, nil
}

// makeRoom lets the workspaces go that were not used for longest; the newest stays.
func (s *vectorCache) makeRoom() {
	for s.bytes > s.most && s.slots.Len() > 1 {
		_, sl, _ := s.slots.RemoveOldest()
		s.empty(sl)
		s.bytes -= slotBytes
	}
}

// changed says that vectors of the workspace were written.
func (s *vectorCache) changed(workspace string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sl, ok := s.slots.Peek(workspace); ok {
		s.empty(sl)
		sl.written++
	}
}

// read reads all vectors of the workspace that the configured model made. Records
// that hold none are not looked at: a round has them written again.
func (x *Index) read(ctx context.Context, workspace string, most int64) (*vectorSet, error) {
	v := &vectorSet{}
	for r, err := range store.AllRecords(ctx, x.Store, keyOf(memoryd.ToolRef{Workspace: workspace})) {
		if err != nil {
			return nil, err
		}
		if e, err := decode(r.Data); err == nil && x.ours(e) {
			v.add(r.ID, e.vector)
		}
		if v.bytes > most {
			return nil, errTooMany
		}
	}
	return v, nil
}
