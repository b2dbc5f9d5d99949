// Package sqlite is the embedded store: one SQLite file in a data directory,
// used by one process, with every acknowledged write flushed to the disk.
//
// # How it is made fast and flat
//
// One goroutine owns the only writing connection and commits whatever waits as one
// transaction. Each call is one row. If a tool's history is full, a new call overwrites the
// row of the oldest in place, so a call costs one page however many are stored; new rows are
// only added at the end of the table. Everything else that a commit changes (counters, which
// row belongs to which call, the identities that make appends idempotent) is one row at the
// end of a log. All of it is kept in memory too, so tools, counters, guidelines and most
// samples are read without the file. The log is folded into per-tool rows in the background.
// The cost of opening depends on the number of tools and remembered identities, not on the
// number of calls.
//
// A separate goroutine copies the write-ahead log into the file, so commits do not wait for
// it.
package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

// Store is the embedded store. Open returns one; it writes after Start.
type Store struct {
	store.Store // the backend behind its drainer, which checks arguments
	internals
}

// internals are what the drainer does not cover.
type internals struct{ *backend }

type backend struct {
	drainer store.Drainer
	cat     *catalog
	w       *writer
	ckpt    *checkpointer
	readers chan *conn
	lock    *dirLock
	worker  *lifecycle.Worker // of the writer and the checkpointer
}

// Tool implements store.Tools, from memory.
func (s *backend) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	t, ok := s.cat.info(ref)
	if !ok {
		return memoryd.Tool{}, store.UnknownTool()
	}
	return t, nil
}

// ListTools implements store.Tools, from memory.
func (s *backend) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	return s.cat.listTools(workspace, after, limit), nil
}

// ListWorkspaces implements store.Tools, from memory.
func (s *backend) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	return s.cat.listSpaces(after, limit), nil
}

// refusing is for how long after a write that failed the store is not ready.
const refusing = 5 * time.Second

// Ping implements store.Store: it checks whether commits work, and whether the file exists.
// After a failed commit it writes.
func (s *backend) Ping(ctx context.Context) error {
	if err := s.w.stillThere(""); err != nil {
		return unavailable(err)
	}
	if r := s.w.refused.Load(); r != nil && time.Since(r.at) < refusing {
		return unavailable(r.err) // a small probe may find room where a call found none
	}
	return s.w.do(ctx, 0, verdictsFirst, func(d *draft) error {
		if d.w.sick.Load() {
			d.begun = -1 // it counts as a change: a row of log is written
		}
		return nil
	})
}

// Start starts the writer and the checkpointer, once; Close ends them. Earlier writes wait.
func (s *backend) Start(ctx context.Context) {
	s.worker.Start(context.WithoutCancel(ctx), s.w.run, s.ckpt.run)
}

// Close implements store.Store. It waits for running calls and for the writer.
func (s *backend) Close() error {
	s.worker.Stop()
	s.w.alive.Lock() // a writer on a slow disk may have been left behind
	defer s.w.alive.Unlock()
	s.ckpt.one.Lock()
	defer s.ckpt.one.Unlock()
	return s.closeFiles()
}

// closeFiles closes the writer's connection last: it empties the write-ahead
// log into the file.
func (s *backend) closeFiles() error {
	var errs []error
	for range cap(s.readers) {
		select {
		case c := <-s.readers:
			errs = append(errs, c.close())
		default: // not all were opened
		}
	}
	for _, c := range []*conn{s.ckpt.c, s.w.c} {
		if c != nil {
			errs = append(errs, c.close())
		}
	}
	if err := errors.Join(append(errs, s.lock.release())...); err != nil {
		return memoryd.Wrap(memoryd.Unavailable, err, "the store could not be closed cleanly")
	}
	return nil
}

// State is what the store says about itself.
type State struct {
	FileBytes int64 `metric:"store_file_bytes" help:"Size of the store on disk; SQLite only."`
	WALBytes  int64 `metric:"store_wal_bytes" help:"Size of the store's write-ahead log; SQLite only."`
	Queued    int   `metric:"store_queue_depth" help:"Writes waiting for a commit; SQLite only."`
	Pending   int   `metric:"pending_calls" help:"Stored calls that have no verdict yet."`
}

// State returns what the store says about itself now.
func (s *backend) State() State {
	name := filepath.Join(s.w.cfg.Dir, fileName)
	now := State{FileBytes: sizeOf(name), WALBytes: sizeOf(name + "-wal"), Queued: len(s.w.queue)}
	s.w.pend.mu.Lock()
	defer s.w.pend.mu.Unlock()
	now.Pending = len(s.w.pend.byKey)
	return now
}

func sizeOf(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		return 0
	}
	return info.Size()
}
