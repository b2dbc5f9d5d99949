package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// runStart measures start and memory with much stored, with nothing, and with
// many idle workspaces.
func runStart(ctx context.Context, b *bench) error {
	const part = "start"
	p, err := b.fillFull(ctx)
	if err != nil {
		return err
	}
	if err := p.stop(); err != nil {
		return err
	}
	var full, rss, empty, idle []float64
	for i := range pick(b, 5, 2) {
		took, mem, err := b.startOnce(ctx, b.fullDir())
		if err != nil {
			return err
		}
		full, rss = append(full, took), append(rss, mem)
		if took, mem, err = b.startOnce(ctx, filepath.Join(b.dir, "empty-"+itoa(i))); err != nil {
			return err
		}
		empty, idle = append(empty, took), append(idle, mem)
	}
	stored := number(float64(b.fullTools()*keptCalls)) + " calls stored"
	b.figure(part, "start with nothing stored", "ms", empty)
	b.atMost(part, "start with "+stored, 1000, "ms", full)
	b.atMost(part, "resident memory with "+stored, 250, "MiB", rss)
	b.atMost(part, "resident memory, idle and empty", 60, "MiB", idle)
	return b.idleWorkspaces(ctx)
}

// startOnce starts, looks at the memory when all is calm, and stops. It gives
// milliseconds to the ready line and MiB.
func (b *bench) startOnce(ctx context.Context, dir string) (took, mem float64, err error) {
	p, err := b.memoryd(ctx, dir, "")
	if err != nil {
		return 0, 0, err
	}
	if a, _, err := once(p.addr, get("/readyz")); err != nil || a.status != 200 {
		return 0, 0, errors.Join(errors.New("not ready"), err, p.stop())
	}
	settle(ctx, p)
	t, err := p.look()
	return float64(p.ready.Microseconds()) / 1000, float64(t.rss) / (1 << 20), errors.Join(err, p.stop())
}

// settle waits until the process takes no processor time, at most a second.
func settle(ctx context.Context, p *process) {
	last := time.Duration(-1)
	for range 10 {
		t, err := p.look()
		if err != nil || t.cpu == last || ctx.Err() != nil {
			return
		}
		last = t.cpu
		time.Sleep(100 * time.Millisecond)
	}
}

// liveHeap collects a server's garbage and gives the bytes that are left. What is resident differs by
// megabytes from one start to the next.
func (b *bench) liveHeap(ctx context.Context, p *process) (float64, error) {
	pprof, err := p.pprof()
	if err != nil {
		return 0, err
	}
	path, err := b.fetchProfile(ctx, pprof+"/heap?gc=1&debug=1", "heap")
	if err != nil {
		return 0, err
	}
	page, err := os.ReadFile(path)
	_, told, _ := strings.Cut(string(page), "# HeapAlloc = ")
	told, _, _ = strings.Cut(told, "\n")
	bytes, perr := strconv.ParseFloat(told, 64)
	return bytes, errors.Join(err, perr)
}

// idleWorkspaces compares many tools in one workspace with as many in one each,
// after a restart: the difference is what a workspace costs.
func (b *bench) idleWorkspaces(ctx context.Context) error {
	const part = "start"
	n := pick(b, 20_000, 5_000)
	one := newTemplate(post("/add_tool_call_result", `{"workspace_id":"bench","tool_name":"tool-`+toolMark+`-`+countMark+
		`","async":true,"include_history":false,"tool_call_results":[{"input":"a","output":"b"}]}`))
	each := newTemplate(post("/add_tool_call_result", `{"workspace_id":"bench-`+toolMark+`","tool_name":"tool-`+countMark+
		`","async":true,"include_history":false,"tool_call_results":[{"input":"a","output":"b"}]}`))
	var heap [2]float64
	var threads [2]int
	for i, t := range []*template{one, each} {
		dir := filepath.Join(b.dir, "workspaces-"+itoa(i))
		const boundless = "quotas: {tools: 0, workspaces: 0}\nhttp: {pprof_listen: \"127.0.0.1:0\"}\n"
		p, err := b.memoryd(ctx, dir, boundless)
		if err != nil {
			return err
		}
		var next atomic.Uint64
		l := &load{addr: p.addr, conns: 32, request: func(n uint64, buf []byte) []byte { return t.fill(buf, n, 0) }}
		_, err = l.run(ctx, counted(&next, uint64(n)))
		if err := errors.Join(err, p.stop()); err != nil {
			return err
		}
		if p, err = b.memoryd(ctx, dir, boundless); err != nil {
			return err
		}
		settle(ctx, p)
		look, err := p.look()
		if err == nil {
			heap[i], err = b.liveHeap(ctx, p)
		}
		if err := errors.Join(err, p.stop()); err != nil {
			return err
		}
		threads[i] = look.threads
	}
	b.atMost(part, "memory of an idle workspace beyond its tool's", 200, "bytes", []float64{(heap[1] - heap[0]) / float64(n)})
	b.note(part, "Threads with %s idle workspaces: %d, with one: %d.", number(float64(n)), threads[1], threads[0])
	return nil
}

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
	list := []*contestant{
		{label: "1,000 calls of 10 tools", p: small},
		{label: number(float64(b.fullTools()*keptCalls)) + " calls of " + number(float64(b.fullTools())) + " tools", p: large},
	}
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
	b.atMost(part, "cost of an add, much stored over little", 1.15, "x", ratios(cost[1], cost[0]))
	b.atMost(part, "p99 of a guideline, much stored over little", 1.15, "x", ratios(list[1].p99, list[0].p99))
	b.draw(part, "flat", "cost of an add", bars("Cost of an add, 64 connections", "µs", []bar{
		{list[0].label, figure("", "µs", cost[0])}, {list[1].label, figure("", "µs", cost[1])},
	}))
	return nil
}
