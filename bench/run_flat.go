package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// fullDir is where runFlat leaves the much-filled store for runStart.
func (b *bench) fullDir() string { return filepath.Join(b.dir, "full") }

// fullTools is how many tools it holds, keptCalls each: a million calls, or
// twenty thousand in a quick run.
func (b *bench) fullTools() int { return pick(b, 10_000, 200) }

// fillFull fills the large store, once.
func (b *bench) fillFull(ctx context.Context) (*process, error) {
	filled := sizeOf(b.fullDir()) > 0
	p, err := b.memoryd(ctx, b.fullDir(), "")
	if err != nil || filled {
		return p, err
	}
	start := time.Now()
	if err := fill(ctx, p.addr, "bench", b.fullTools(), keptCalls); err != nil {
		return nil, errors.Join(err, p.stop())
	}
	calls := b.fullTools() * keptCalls
	b.note("flat", "Filled with %s calls in %.0f s (%s calls/s), %s MB on the disk.", number(float64(calls)), time.Since(start).Seconds(),
		number(float64(calls)/time.Since(start).Seconds()), number(float64(sizeOf(b.fullDir()))/1e6))
	return p, nil
}

// runFlat sets the cost of adds and reads beside much against that beside little.
func runFlat(ctx context.Context, b *bench) (err error) {
	const part, few = "flat", 10
	large, err := b.fillFull(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, large.stop()) }()
	small, err := b.memoryd(ctx, filepath.Join(b.dir, "few"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, small.stop()) }()
	if err := fill(ctx, small.addr, "bench", few, keptCalls); err != nil {
		return err
	}
	for _, p := range []*process{small, large} {
		if err := summarise(ctx, p.addr, "bench", few); err != nil {
			return err
		}
	}
	t := addTemplate("bench", 1, callBytes)
	reading := newTemplate(post("/retrieve_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","include_history":false}`))
	list := []*contestant{{label: "1,000 calls of 10 tools", p: small}, {label: number(float64(b.fullTools()*keptCalls)) + " calls of " + number(float64(b.fullTools())) + " tools", p: large}}
	tools := []int{few, b.fullTools()}
	first := uint64(firstAdd)
	rate, err := addRate(ctx, large, "bench", b.fullTools())
	if err != nil {
		return err
	}
	var addP99, cost [2][]float64
	for range pick(b, 5, 2) {
		for i, c := range list {
			d := pick(b, 2*time.Second, 300*time.Millisecond)
			o, err := adds(c.p.addr, 64, t, tools[i], first).closed(ctx, d)
			if err != nil {
				return err
			}
			first += uint64(o.requests)
			cost[i] = append(cost[i], 1e6/o.rate())
			if o, err = adds(c.p.addr, 32, t, tools[i], first).open(ctx, rate, d); err != nil {
				return err
			}
			first += uint64(o.requests)
			addP99[i] = append(addP99[i], o.quantile(.99))
			if o, err = retrieves(c.p.addr, 16, reading, few).open(ctx, retrieveRate, d/2); err != nil {
				return err
			}
			c.p99 = append(c.p99, o.quantile(.99))
		}
	}
	for i, c := range list {
		b.figure(part, "cost of an add beside "+c.label, "µs", cost[i])
		b.figure(part, "p99 of an add at "+number(rate)+"/s beside "+c.label, "µs", addP99[i])
		b.figure(part, "p99 of a guideline at 1,000/s beside "+c.label, "µs", c.p99)
	}
	b.atMost(part, "cost of an add, much stored over little", 1.2, "x", ratios(cost[1], cost[0]))
	b.atMost(part, "p99 of a guideline, much stored over little", 1.2, "x", ratios(list[1].p99, list[0].p99))
	b.draw(part, "flat", "cost of an add", bars("Cost of an add, 64 connections", "µs", []bar{
		{list[0].label, figure("", "µs", cost[0])}, {list[1].label, figure("", "µs", cost[1])},
	}))
	return nil
}
