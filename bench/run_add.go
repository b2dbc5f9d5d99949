package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// memConfig is the product without a durable store.
const memConfig = "store: {backend: mem}\n"

// firstAdd is the number of the first measured add, beyond those of the fill.
const firstAdd = 1 << 30

// runAdd compares durable adds with the same handlers without a store.
func runAdd(ctx context.Context, b *bench) (err error) {
	const part = "add"
	tools := pick(b, 1000, 50)
	t := addTemplate("bench", 1, callBytes)
	list, stop, err := b.addContestants(ctx, t, tools)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	product, mem, decode, echo, raw, whole := list[0], list[1], list[2], list[3], list[4], list[5]
	first := uint64(firstAdd)
	for range pick(b, 5, 2) {
		for _, c := range list {
			l := adds(c.p.addr, 64, t, tools, first)
			if err := c.hammer(ctx, l, pick(b, 2*time.Second, 400*time.Millisecond)); err != nil {
				return err
			}
			first += uint64(c.last.requests)
		}
	}
	if err := b.addLatency(ctx, list, t, tools, &first); err != nil {
		return err
	}
	var chart []bar
	for _, c := range list {
		chart = append(chart, bar{c.label, b.figure(part, c.label+", 64 connections", "adds/s", c.rate)})
		b.figure(part, c.label+", processor time per add", "µs", c.cpu)
	}
	b.atLeast(part, "durable adds/s over the same handler without a store", 0.75, ratios(product.rate, mem.rate))
	b.atLeast(part, "durable adds/s over Echo with decoding only", 0.40, ratios(product.rate, decode.rate))
	b.atMost(part, "processor time of a durable add over Echo's with decoding", 3.1, "x", ratios(product.cpu, decode.cpu))
	b.figure(part, "durable adds/s over a bare Echo handler", "x", ratios(product.rate, echo.rate))
	b.figure(part, "durable adds/s over reading and rewriting whole histories", "x", ratios(product.rate, whole.rate))
	b.atMost(part, "p99 of an add at a fixed rate over a raw log's", 4, "x", ratios(product.p99, raw.p99))
	b.atMost(part, "bytes written to the disk per byte of body", 4.5, "x", []float64{product.written / float64(product.sent*callBytes)})
	b.draw(part, "add", "adds per second", bars("Adds of single 2 KB calls per second, 64 connections", "/s", chart))
	b.draw(part, "add-latency", "latency of an add at a fixed rate",
		percentiles("Latency of an add, open loop", []*contestant{product, raw, decode}))
	return nil
}

// addLatency measures some at the same fixed rate: 2,000 a second, or less where
// the machine bears less, because latencies mean something only below half of
// what a server bears.
func (b *bench) addLatency(ctx context.Context, list []*contestant, t *template, tools int, first *uint64) error {
	const part = "add"
	some := []*contestant{list[0], list[4], list[2]}
	rate := calmRate(figure("", "", list[0].rate).Median)
	if rate < wantedRate {
		b.note(part, "The fixed rate is %s/s, because this machine, as busy as it was, did not bear 2,000/s at less than half of its capacity.",
			number(rate))
	}
	for range pick(b, 5, 2) {
		for _, c := range some {
			l := adds(c.p.addr, 64, t, tools, *first)
			if err := c.pace(ctx, l, rate, pick(b, 2*time.Second, 500*time.Millisecond)); err != nil {
				return err
			}
			*first += uint64(c.last.requests)
		}
	}
	for _, c := range some {
		b.figure(part, c.label+", p50 at "+number(rate)+"/s", "µs", c.p50)
		b.figure(part, c.label+", p99 at "+number(rate)+"/s", "µs", c.p99)
	}
	return nil
}

// addContestants starts the product and all baselines, histories full.
func (b *bench) addContestants(ctx context.Context, t *template, tools int) ([]*contestant, func() error, error) {
	list := []*contestant{
		{label: "memoryd, durable"},
		{label: "memoryd, store in memory"},
		{label: "Echo and decoding"},
		{label: "bare Echo"},
		{label: "raw log"},
		{label: "whole history rewritten"},
	}
	stop := func() error {
		var errs []error
		for _, c := range list {
			if c.p != nil {
				errs = append(errs, c.p.stop())
			}
		}
		return errors.Join(errs...)
	}
	err := func() (err error) {
		for i, config := range []string{"", memConfig} {
			if list[i].p, err = b.memoryd(ctx, filepath.Join(b.dir, "add-"+itoa(i)), config); err != nil {
				return err
			}
		}
		answer, err := b.recordAnswer(list[0].p.addr, string(t.fill(nil, 0, 1)))
		if err != nil {
			return err
		}
		for i, kind := range []baselineKind{decodeEcho, bareEcho, rawLog, rewriteAll} {
			if list[i+2].p, err = b.baseline(ctx, kind, answer); err != nil {
				return err
			}
		}
		for _, i := range []int{0, 1, 5} {
			if err = fill(ctx, list[i].p.addr, "bench", tools, keptCalls); err != nil {
				return err
			}
		}
		return nil
	}()
	if err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return list, stop, nil
}

// recordAnswer asks the product once and keeps the answer's body in a file, so
// that baselines answer the same bytes.
func (b *bench) recordAnswer(addr, request string) (string, error) {
	a, _, err := once(addr, request)
	if err != nil {
		return "", err
	}
	if a.status != 200 {
		return "", errors.New("the product answered " + string(a.body))
	}
	f, err := os.CreateTemp(b.dir, "answer-")
	if err != nil {
		return "", err
	}
	_, err = f.Write(a.body)
	return f.Name(), errors.Join(err, f.Close())
}

// runBatch compares adds of 50 calls with a bare group commit of the same rows.
func runBatch(ctx context.Context, b *bench) (err error) {
	const part, each, writers = "batch", 50, 16
	tools := pick(b, 1000, 50)
	raw, err := openRawRows(filepath.Join(b.dir, "batch-raw"), tools)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, raw.close()) }()
	if err := raw.fill(); err != nil {
		return err
	}
	p, err := b.memoryd(ctx, filepath.Join(b.dir, "batch"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	t := addTemplate("bench", each, callBytes)
	first := uint64(firstAdd)
	d := pick(b, 3*time.Second, 400*time.Millisecond)
	product := &contestant{label: "memoryd", p: p}
	var rows []float64
	for range pick(b, 5, 2) {
		if err := product.hammer(ctx, adds(p.addr, writers, t, tools, first), d); err != nil {
			return err
		}
		first += uint64(product.last.requests)
		rate, err := raw.rate(ctx, writers, each, d)
		if err != nil {
			return err
		}
		rows = append(rows, rate)
	}
	rate, cpu := make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		rate[i], cpu[i] = product.rate[i]*each, product.cpu[i]/each
	}
	b.figure(part, "memoryd, batches of 50, 16 connections", "rows/s", rate)
	b.figure(part, "memoryd, processor time per row", "µs", cpu)
	b.figure(part, "bare group commit, batches of 50, 16 writers", "rows/s", rows)
	b.atLeast(part, "rows/s over a bare group commit of the same rows", 0.6, ratios(rate, rows))
	b.atMost(part, "bytes written to the disk per byte of body", 4, "x", []float64{product.written / float64(product.sent*each*callBytes)})
	return nil
}

// keptCalls is how many calls a history keeps, here and in the product.
const keptCalls = 100

// openRewrite restates the algorithm of tool memories that keep a tool as one
// record with its calls inside: each add reads the record, appends to it, drops
// the oldest calls, deletes the record and inserts the new one. What is left out
// favours it: no search by embedding, no model call, and one commit for all that
// wait.
func openRewrite(dir string) (sink, func() error, error) {
	db, err := openDatabase(dir, `CREATE TABLE IF NOT EXISTS memory (workspace TEXT, tool TEXT, record BLOB, PRIMARY KEY (workspace, tool))`)
	if err != nil {
		return nil, nil, err
	}
	c := newCommitter(func(requests []*wireRequest) error {
		return inTransaction(db, func(tx *sql.Tx) error {
			for _, r := range requests {
				if err := rewrite(tx, r); err != nil {
					return err
				}
			}
			return nil
		})
	})
	take := func(_ []byte, r *wireRequest) error { return c.add(r) }
	return take, func() error { c.close(); return db.Close() }, nil
}

func rewrite(tx *sql.Tx, r *wireRequest) error {
	var record []byte
	err := tx.QueryRow(`SELECT record FROM memory WHERE workspace = ? AND tool = ?`, r.Workspace, r.ToolName).Scan(&record)
	var calls []wireCall
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(record, &calls); err != nil {
			return err
		}
	}
	calls = append(calls, r.Calls...)
	calls = slices.Clone(calls[max(0, len(calls)-keptCalls):])
	if record, err = json.Marshal(calls); err != nil {
		return err
	}
	if _, err := tx.Exec(`DELETE FROM memory WHERE workspace = ? AND tool = ?`, r.Workspace, r.ToolName); err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO memory (workspace, tool, record) VALUES (?, ?, ?)`, r.Workspace, r.ToolName, record)
	return err
}
