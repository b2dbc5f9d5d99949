package sqlite

import (
	"context"
	"database/sql/driver"
	"log/slog"
	"sync"
	"time"

	"memoryd/internal/lifecycle"
)

// checkpointEvery is how long commits gather before their pages are copied
// from the write-ahead log into the file: each checkpoint flushes both, and a page that several
// commits changed meanwhile is copied once.
const checkpointEvery = 250 * time.Millisecond

// checkpointer copies the write-ahead log into the file beside the commits, on
// a connection of its own, so that no commit has to. Because under endless
// load the log is never wholly copied, and so never restarted, writers are made
// to wait for it when it passes its limit; by then little is left to copy.
type checkpointer struct {
	c     *conn
	w     *writer
	log   *slog.Logger
	limit int64 // pages

	one sync.Mutex // a connection serves one goroutine at a time
}

// run works until the context ends.
func (p *checkpointer) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.w.wrote:
		}
		if !lifecycle.Sleep(ctx, checkpointEvery) {
			return
		}
		_ = lifecycle.Do(ctx, p.log, "checkpointing", func() error { p.step(); return nil })
	}
}

// step copies once, and holds writers off if the log is too long or holds text
// that was deleted.
func (p *checkpointer) step() {
	p.one.Lock()
	defer p.one.Unlock()
	pages, _, err := p.checkpoint(`PASSIVE`)
	mode := ""
	switch {
	case err != nil:
	case p.w.clean.Swap(false):
		mode = `TRUNCATE`
	case pages > p.limit:
		mode = `RESTART`
	}
	if mode != "" {
		busy := false
		busy, err = p.alone(mode)
		if mode == `TRUNCATE` && (busy || err != nil) {
			p.w.clean.Store(true) // a long reading was in the way: again
			p.w.stir()
		}
	}
	if err != nil {
		p.log.Warn("store: a checkpoint failed", "err", err)
		if lost(err) {
			p.w.giveUp(err)
		}
	}
}

// alone runs a checkpoint while writers wait.
func (p *checkpointer) alone(mode string) (busy bool, err error) {
	p.w.writing.Lock()
	defer p.w.writing.Unlock()
	_, busy, err = p.checkpoint(mode)
	return busy, err
}

// checkpoint runs one, gives the pages that the log holds and says whether
// something kept it from being complete.
func (p *checkpointer) checkpoint(mode string) (pages int64, busy bool, err error) {
	err = p.c.query(context.Background(), `PRAGMA wal_checkpoint(`+mode+`)`, func(v []driver.Value) error {
		busy, pages = integer(v[0]) != 0, integer(v[1])
		return nil
	})
	return pages, busy, err
}
