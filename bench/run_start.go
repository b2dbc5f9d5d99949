package main

import (
	"context"
	"errors"
	"path/filepath"
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

// idleWorkspaces compares many tools in one workspace with as many in one each,
// after a restart: the difference is what a workspace costs.
func (b *bench) idleWorkspaces(ctx context.Context) error {
	const part = "start"
	n := pick(b, 50_000, 5_000)
	one := newTemplate(post("/add_tool_call_result", `{"workspace_id":"bench","tool_name":"tool-`+toolMark+`-`+countMark+
		`","async":true,"include_history":false,"tool_call_results":[{"input":"a","output":"b"}]}`))
	each := newTemplate(post("/add_tool_call_result", `{"workspace_id":"bench-`+toolMark+`","tool_name":"tool-`+countMark+
		`","async":true,"include_history":false,"tool_call_results":[{"input":"a","output":"b"}]}`))
	var rss [2]float64
	var threads [2]int
	for i, t := range []*template{one, each} {
		dir := filepath.Join(b.dir, "workspaces-"+itoa(i))
		p, err := b.memoryd(ctx, dir, "")
		if err != nil {
			return err
		}
		var next atomic.Uint64
		l := &load{addr: p.addr, conns: 32, request: func(n uint64, buf []byte) []byte { return t.fill(buf, n, 0) }}
		_, err = l.run(ctx, counted(&next, uint64(n)))
		if err := errors.Join(err, p.stop()); err != nil {
			return err
		}
		if p, err = b.memoryd(ctx, dir, ""); err != nil {
			return err
		}
		settle(ctx, p)
		look, err := p.look()
		if err := errors.Join(err, p.stop()); err != nil {
			return err
		}
		rss[i], threads[i] = float64(look.rss), look.threads
	}
	b.atMost(part, "memory of an idle workspace beyond its tool's", 200, "bytes", []float64{(rss[1] - rss[0]) / float64(n)})
	b.note(part, "Threads with %s idle workspaces: %d, with one: %d.", number(float64(n)), threads[1], threads[0])
	return nil
}
