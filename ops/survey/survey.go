// Package survey keeps what the views over all tools show: counts, what goes wrong, and a
// short line for each of the newest calls. It covers only workspaces that somebody looks at.
// Such a workspace is read once in the background; after that, only tools that changed are
// read. So a view never waits for a scan, and says how old its data is.
package survey

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// The bounds of what is kept: of each tool its newest calls for counting and fewer of
// them as lines, lines of a workspace, and workspaces (those asked about last).
const (
	countedCalls   = 1000
	lineCalls      = 200
	mostLines      = 400_000
	mostWorkspaces = 4
)

// freshFor is how long a reading counts as new, firstWait how long the first
// question waits for it and laterWait any other.
const (
	freshFor  = 2 * time.Second
	firstWait = 25 * time.Millisecond
	laterWait = 15 * time.Millisecond
)

// Store is the part of a store that a Survey reads.
type Store interface {
	store.Calls
	store.Tools
}

// Survey reads workspaces. It is safe for concurrent use.
type Survey struct {
	store  Store
	now    func() time.Time
	worker *lifecycle.Worker

	mu     sync.Mutex
	states map[string]*workspaceState
}

// New returns a Survey that has read nothing.
func New(s Store, log *slog.Logger, now func() time.Time) *Survey {
	return &Survey{store: s, now: now, worker: lifecycle.NewWorker(log, "survey"), states: map[string]*workspaceState{}}
}

// Stop cancels the reading and waits for it.
func (s *Survey) Stop() { s.worker.Stop() }

// Seen says when a view was read, and whether it is complete.
type Seen struct {
	// At is when the view was read.
	At time.Time `json:"at"`
	// Reading reports that the workspace is being read for the first time.
	Reading bool `json:"reading"`
	// Lines is the number of calls in the view.
	Lines int `json:"lines"`
	// Kept is the number of stored calls.
	Kept int `json:"kept"`
	// Err is why the last reading failed; "" if it did not.
	Err string `json:"error,omitempty"`
}

// Snapshot is a workspace as it was read, or as much of it as is read so far. It does not change.
type Snapshot struct {
	Seen

	// Tools are sorted by the bytes of their names.
	Tools []*Tool

	overviews map[string]Overview
	// Runs are the runs that calls name, those without progress first.
	Runs   []Run
	newest []*Tool // the tool with the newest call first
}

// workspaceState is a workspace that is looked at.
type workspaceState struct {
	snapshot *Snapshot
	asked    time.Time
	done     chan struct{} // closed at the end of the reading under way; nil: none
	dirty    map[string]bool
	rest     time.Duration // from the end of a reading to the next, at least
	read     time.Time     // the end of the newest
}

// Of returns the last reading of a workspace, and starts a new one if that is some seconds
// old. It waits only briefly.
func (s *Survey) Of(ctx context.Context, workspace string) *Snapshot {
	s.mu.Lock()
	b := s.states[workspace]
	if b == nil {
		s.makeRoom()
		b = &workspaceState{snapshot: &Snapshot{Seen: Seen{Reading: true}}, dirty: map[string]bool{}}
		b.snapshot.sum()
		s.states[workspace] = b
	}
	b.asked = s.now()
	if b.done == nil && (b.asked.Sub(b.read) >= max(freshFor, b.rest) || len(b.dirty) > 0) {
		done := make(chan struct{})
		dirty := b.dirty
		b.done, b.dirty = done, map[string]bool{}
		s.worker.Go(func(ctx context.Context) error {
			defer s.ended(b, done)
			s.read(ctx, workspace, b, dirty)
			return nil
		})
	}
	done, wait := b.done, laterWait
	if b.snapshot.Reading {
		wait = firstWait
	}
	s.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return b.snapshot
}

// makeRoom forgets the workspace that was asked about longest ago.
func (s *Survey) makeRoom() {
	if len(s.states) < mostWorkspaces {
		return
	}
	oldest := ""
	for name, b := range s.states {
		if b.done == nil && (oldest == "" || b.asked.Before(s.states[oldest].asked)) {
			oldest = name
		}
	}
	delete(s.states, oldest)
}

func (s *Survey) ended(b *workspaceState, done chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.done, b.read = nil, s.now()
	// What takes long is not done all the time, however often somebody looks.
	b.rest = 10 * b.read.Sub(b.snapshot.At)
	close(done)
}

// Changed makes a tool be read again, whatever its revision: a person changed something and
// expects to see it on the next page.
func (s *Survey) Changed(ref memoryd.ToolRef) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := s.states[ref.Workspace]; b != nil {
		b.dirty[ref.Tool] = true
	}
}

// read reads what changed since the snapshot of b.
func (s *Survey) read(ctx context.Context, workspace string, b *workspaceState, dirty map[string]bool) {
	before := b.snapshot
	next := &Snapshot{Seen: Seen{At: s.now()}}
	known := make(map[string]*Tool, len(before.Tools))
	for _, t := range before.Tools {
		known[t.Name] = t
	}
	for tool, err := range store.AllTools(ctx, s.store, workspace) {
		if err == nil {
			err = s.take(ctx, next, tool, known[tool.Tool], dirty[tool.Tool])
		}
		if err != nil {
			known := *before // what was known before, with the reason why there is no more
			known.At = s.now()
			_, known.Err = memoryd.KindOf(err)
			s.publish(b, &known)
			return
		}
		if before.Reading && len(next.Tools)%256 == 0 {
			part := *next
			part.Reading, part.Tools = true, slices.Clone(next.Tools)
			part.sum()
			s.publish(b, &part)
		}
	}
	next.sum()
	s.publish(b, next)
}

func (s *Survey) publish(b *workspaceState, snapshot *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b.snapshot = snapshot
}

// take adds a tool to a snapshot, as it is known or as it is read now.
func (s *Survey) take(ctx context.Context, next *Snapshot, tool memoryd.Tool, old *Tool, dirty bool) error {
	t := old
	if old == nil || dirty || old.Revision != tool.Revision || old.Kept != tool.Kept {
		var calls []memoryd.Call
		for call, err := range store.AllCalls(ctx, s.store, tool.ToolRef, true) {
			if err != nil {
				return err
			}
			if calls = append(calls, call); len(calls) == countedCalls {
				break
			}
		}
		t = summarise(tool, calls)
	} else {
		fresh := *old
		fresh.describe(tool)
		t = &fresh
	}
	if next.Lines+len(t.Calls) > mostLines {
		short := *t
		short.Calls = nil
		t = &short
	}
	next.Lines += len(t.Calls)
	next.Kept += t.Kept
	next.Tools = append(next.Tools, t)
	return nil
}
