// Package sqlite is the embedded store: one SQLite file in a data directory,
// used by one process, with every acknowledged write flushed to the disk.
//
// # How it is made fast and flat
//
// One goroutine owns the only writing connection and commits whatever waits as
// one transaction. Each call is one row. When a tool's history is full, a new
// call overwrites the row of the oldest in place, so a call costs one page
// however many are stored; new rows only ever go to the end of the table.
// Everything else that a commit changes (counters, which row is whose, the
// identities that make appends idempotent) is one row at the end of a log. All
// of it is held in memory too, so that tools, counters, guidelines and most
// samples are read without the file; the log is folded into per-tool rows in
// the background, and opening costs as much as there are tools and remembered
// identities, not as there are calls.
//
// The write-ahead log is copied into the file by a goroutine of its own, off
// the path of commits.
package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"memoryd"
	"memoryd/internal/lifecycle"
	"memoryd/store"
)

var _ store.Store = (*Store)(nil)

// Store is the embedded store. Open makes one.
type Store struct {
	cat     *catalog
	w       *writer
	ckpt    *checkpointer
	readers chan *conn
	lock    *dirLock
	worker  *lifecycle.Worker // of the writer and the checkpointer

	life    sync.RWMutex
	closed  bool
	running sync.WaitGroup
}

// enter registers a running call, unless its context has ended or the store is
// closed.
func (s *Store) enter(ctx context.Context) error {
	if err := ended(ctx); err != nil {
		return err
	}
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed {
		return closedError()
	}
	s.running.Add(1)
	return nil
}

func (s *Store) leave() { s.running.Done() }

// Tool implements store.Tools, from memory.
func (s *Store) Tool(ctx context.Context, ref memoryd.ToolRef) (memoryd.Tool, error) {
	if err := s.enter(ctx); err != nil {
		return memoryd.Tool{}, err
	}
	defer s.leave()
	t, ok := s.cat.info(ref)
	if !ok {
		return memoryd.Tool{}, unknownTool()
	}
	return t, nil
}

// ListTools implements store.Tools, from memory.
func (s *Store) ListTools(ctx context.Context, workspace, after string, limit int) ([]memoryd.Tool, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := store.CheckLimit(limit); err != nil {
		return nil, err
	}
	return s.cat.listTools(workspace, after, limit), nil
}

// ListWorkspaces implements store.Tools, from memory.
func (s *Store) ListWorkspaces(ctx context.Context, after string, limit int) ([]string, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := store.CheckLimit(limit); err != nil {
		return nil, err
	}
	return s.cat.listSpaces(after, limit), nil
}

// pingJob asks whether commits work. After one that failed it writes.
type pingJob struct{ ticket }

// Ping implements store.Store.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	return s.w.submit(&pingJob{newTicket(ctx, 0)})
}

func (j *pingJob) order() order { return early }

func (j *pingJob) run(d *draft) error {
	if !d.w.sick.Load() {
		return nil
	}
	d.w.lastLog++
	return d.c.exec(`INSERT INTO log (id, at, records) VALUES (?,?,zeroblob(0))`, d.w.lastLog, d.now.UnixMicro())
}

// Close implements store.Store. It waits for running calls and for the writer.
func (s *Store) Close() error {
	s.life.Lock()
	already := s.closed
	s.closed = true
	s.life.Unlock()
	if already {
		return nil
	}
	s.running.Wait()
	close(s.w.stop)
	<-s.w.done
	close(s.ckpt.stop)
	<-s.ckpt.done
	s.worker.Stop()
	return s.closeFiles()
}

// closeFiles closes the writer's connection last: it empties the write-ahead
// log into the file.
func (s *Store) closeFiles() error {
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

// discard is the logger of a store that was given none.
func discard(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}
