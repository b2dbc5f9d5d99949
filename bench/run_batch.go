package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

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
	b.atLeast(part, "rows/s over a bare group commit of the same rows", 0.5, ratios(rate, rows))
	b.atMost(part, "bytes written to the disk per byte of body", 5, "x", []float64{product.written / float64(product.sent*each*callBytes)})
	return nil
}
