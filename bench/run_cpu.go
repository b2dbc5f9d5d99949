package main

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
)

// runCPU compares what adds of prose and of JSON take of the processors with Echo that only
// decodes, and with the older memoryd that -against names.
func runCPU(ctx context.Context, b *bench) (err error) {
	const part = "cpu"
	tools := pick(b, 200, 20)
	var started []*process
	defer func() {
		for _, p := range started {
			err = errors.Join(err, p.stop())
		}
	}()
	keep := func(p *process, err error) (*process, error) {
		if err == nil {
			started = append(started, p)
		}
		return p, err
	}
	product, old, decode := &contestant{label: "memoryd"}, &contestant{label: "the older memoryd"}, &contestant{label: "Echo and decoding"}
	if product.p, err = keep(b.memoryd(ctx, filepath.Join(b.dir, "cpu"), "")); err != nil {
		return err
	}
	list := []*contestant{product, decode}
	filled := []*process{product.p}
	if b.opts.against != "" {
		old.p, err = keep(startProcess(ctx, b.dir, b.opts.against, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(b.dir, "cpu-old")))
		if err != nil {
			return err
		}
		list, filled = append(list, old), append(filled, old.p)
	}
	answer, err := b.recordAnswer(product.p.addr, string(addTemplate("bench", 1, callBytes).fill(nil, 0, 1)))
	if err != nil {
		return err
	}
	if decode.p, err = keep(b.baseline(ctx, decodeEcho, answer)); err != nil {
		return err
	}
	for _, p := range filled {
		if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
			return err
		}
	}
	first := uint64(firstAdd)
	for _, form := range []struct{ of, output string }{{"", prose(callBytes)}, {" of JSON", records(callBytes)}} {
		t := addWith("bench", 1, form.output, "")
		if err := b.turns(ctx, list, t, tools, &first); err != nil {
			return err
		}
		for _, c := range list {
			b.figure(part, c.label+", processor time per add"+form.of, "µs", c.cpu)
		}
		b.atMost(part, "processor time of a durable add"+form.of+" over Echo's with decoding", 3.1, "x", ratios(product.cpu, decode.cpu))
		if old.p != nil {
			b.atMost(part, "processor time of a durable add"+form.of+" over the older memoryd's", 0.85, "x", ratios(product.cpu, old.cpu))
		}
	}
	return nil
}

// turns has contestants work in turns. Each turn is as many requests for all: processor time of a
// fixed work is what a busy machine moves least.
func (b *bench) turns(ctx context.Context, list []*contestant, t *template, tools int, first *uint64) error {
	requests := uint64(pick(b, 4000, 400))
	for round := range pick(b, 12, 3) {
		for _, c := range list {
			if round <= 1 { // what only a first request does is no cost of an add
				c.cpu = nil
			}
			if err := c.work(ctx, adds(c.p.addr, 32, t, tools, *first), requests); err != nil {
				return err
			}
		}
		*first += requests
	}
	return nil
}

// work is a turn of so many requests.
func (c *contestant) work(ctx context.Context, l *load, requests uint64) error {
	before, err := c.p.look()
	if err != nil {
		return err
	}
	var next atomic.Uint64
	next.Store(l.first)
	o, err := l.run(ctx, counted(&next, l.first+requests))
	if err != nil {
		return errors.Join(errors.New(c.label), err)
	}
	after, err := c.p.look()
	if err != nil {
		return err
	}
	c.last = o
	c.cpu = append(c.cpu, float64((after.cpu-before.cpu).Microseconds())/float64(o.requests))
	return nil
}
