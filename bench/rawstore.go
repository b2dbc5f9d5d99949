package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver that the product uses, too
)

// rawRows appends rows of the product's size to a bare SQLite table, a ring of
// keptCalls rows a tool, through a bare group commit: what the rows themselves
// cost when nobody decodes, judges, counts or answers.
type rawRows struct {
	db   *sql.DB
	c    *committer[[]rawRow]
	next []int64 // the newest number of each tool
	mu   sync.Mutex
}

// rawRow is a slot and its number.
type rawRow struct{ slot, tool, seq int64 }

const rawSchema = `CREATE TABLE IF NOT EXISTS call (
	slot INTEGER PRIMARY KEY, tool INTEGER, seq INTEGER, key BLOB, at INTEGER, success INTEGER, time_cost REAL, tokens INTEGER,
	input TEXT, output TEXT, metadata TEXT, state INTEGER, score REAL, summary TEXT, evaluation TEXT, judge TEXT, rule TEXT)`

const rawInsert = `INSERT OR REPLACE INTO call VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`

func openRawRows(dir string, tools int) (*rawRows, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := openDatabase(dir, rawSchema)
	if err != nil {
		return nil, err
	}
	insert, err := db.Prepare(rawInsert)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	input := strings.Repeat("q", 512)
	output := strings.Repeat("o", callBytes-512)
	note := strings.Repeat("e", 160)
	key := make([]byte, 16)
	r := &rawRows{db: db, next: make([]int64, tools)}
	r.c = newCommitter(func(batches [][]rawRow) error {
		return inTransaction(db, func(tx *sql.Tx) error {
			stmt := tx.Stmt(insert)
			for _, rows := range batches {
				for _, row := range rows {
					if _, err := stmt.Exec(row.slot, row.tool, row.seq, key, int64(1767323045), 1, 1.25, 512, input, output, "{}", 1, 1.0,
						note, note, "rules", "no-trouble"); err != nil {
						return err
					}
				}
			}
			return nil
		})
	})
	return r, nil
}

// add appends n rows to the tool and returns when they are durable.
func (r *rawRows) add(tool int64, n int) error {
	rows := make([]rawRow, n)
	r.mu.Lock()
	for i := range rows {
		seq := r.next[tool]
		r.next[tool]++
		rows[i] = rawRow{slot: 1 + tool*keptCalls + seq%keptCalls, tool: tool, seq: seq}
	}
	r.mu.Unlock()
	return r.c.add(rows)
}

func (r *rawRows) close() error { r.c.close(); return r.db.Close() }

// fill makes all rings full.
func (r *rawRows) fill() error {
	for tool := range r.next {
		if err := r.add(int64(tool), keptCalls); err != nil {
			return err
		}
	}
	return nil
}

// rate is rows per second of writers that add batches of n for d.
func (r *rawRows) rate(ctx context.Context, writers, n int, d time.Duration) (float64, error) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	var rows int
	var failed error
	start := time.Now()
	for w := range writers {
		wg.Go(func() {
			mine := 0
			var err error
			for i := uint64(w) * 1_000_003; err == nil && ctx.Err() == nil && time.Since(start) < d; i++ {
				err = r.add(int64(spread(i, len(r.next))), n)
				mine += n
			}
			mu.Lock()
			defer mu.Unlock()
			rows += mine
			failed = errors.Join(failed, err)
		})
	}
	wg.Wait()
	return float64(rows) / time.Since(start).Seconds(), errors.Join(failed, ctx.Err())
}

// logBytes is the size of the log, which is written round and round: a file that
// has its size already is flushed in half the time of one that grows.
const logBytes = 64 << 20

// openLog is a log that each request is appended to, with one flush for all that
// wait: the floor of any durable store.
func openLog(dir string) (sink, func() error, error) {
	f, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	if err := allocate(f); err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	at := int64(0)
	var buf []byte
	c := newCommitter(func(bodies [][]byte) error {
		buf = buf[:0]
		for _, b := range bodies {
			buf = append(buf, b...)
		}
		if at+int64(len(buf)) > logBytes {
			at = 0
		}
		if _, err := f.WriteAt(buf, at); err != nil {
			return err
		}
		at += int64(len(buf))
		return syscall.Fdatasync(int(f.Fd()))
	})
	take := func(body []byte, _ *wireRequest) error { return c.add(body) }
	return take, func() error { c.close(); return f.Close() }, nil
}

// allocate writes the whole file once.
func allocate(f *os.File) error {
	block := make([]byte, 1<<20)
	for at := int64(0); at < logBytes; at += int64(len(block)) {
		if _, err := f.WriteAt(block, at); err != nil {
			return err
		}
	}
	return f.Sync()
}

// committer commits what waits as one: who arrives during a commit shares the
// next, and no timer delays anybody. It is what a plain durable server would do,
// and so the measure of ours.
type committer[T any] struct {
	commit func([]T) error
	queue  chan waiting[T]
	done   sync.WaitGroup
}

type waiting[T any] struct {
	item T
	err  chan error
}

// groupLimit bounds how many items share a commit.
const groupLimit = 256

func newCommitter[T any](commit func([]T) error) *committer[T] {
	c := &committer[T]{commit: commit, queue: make(chan waiting[T], 4*groupLimit)}
	c.done.Go(c.run)
	return c
}

// add returns when the item is durable.
func (c *committer[T]) add(item T) error {
	w := waiting[T]{item, make(chan error, 1)}
	c.queue <- w
	return <-w.err
}

// close waits for what was added; nothing may be added afterwards.
func (c *committer[T]) close() {
	close(c.queue)
	c.done.Wait()
}

func (c *committer[T]) run() {
	for first := range c.queue {
		group := c.gather(first)
		items := make([]T, len(group))
		for i, w := range group {
			items[i] = w.item
		}
		err := c.commit(items)
		for _, w := range group {
			w.err <- err
		}
	}
}

func (c *committer[T]) gather(first waiting[T]) []waiting[T] {
	group := []waiting[T]{first}
	for len(group) < groupLimit {
		select {
		case w, open := <-c.queue:
			if !open {
				return group
			}
			group = append(group, w)
		default:
			return group
		}
	}
	return group
}

// openDatabase opens a SQLite file as durably as the product's: a write-ahead
// log that each commit flushes.
func openDatabase(dir, schema string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "bench.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=wal_autocheckpoint(4000)&_pragma=cache_size(-16384)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(schema); err != nil {
		_ = db.Close()
		return nil, err
	}
	return db, nil
}

// inTransaction commits what change did, or nothing.
func inTransaction(db *sql.DB, change func(*sql.Tx) error) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if err := change(tx); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}
