package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strings"
	"sync"
	"time"
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
