package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// runSoak runs a mixed load and watches what grows.
func runSoak(ctx context.Context, b *bench) (err error) {
	const part = "soak"
	// Alone it runs for five minutes; as a part of all for one.
	d := pick(b, b.opts.soak, 3*time.Second)
	tools := pick(b, 200, 20)
	dir := filepath.Join(b.dir, "soak")
	p, err := b.memoryd(ctx, dir, "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	watch := startWatch(ctx, p)
	var size, at []float64
	sizes := make(chan struct{})
	stop, cancel := context.WithCancel(ctx)
	go func() {
		defer close(sizes)
		for start := time.Now(); sleep(stop, d/100) == nil; {
			at, size = append(at, time.Since(start).Seconds()), append(size, float64(sizeOf(dir)))
		}
	}()
	rate, err := addRate(ctx, p, "bench", tools)
	if err == nil {
		err = b.mixed(ctx, p, tools, rate, d)
	}
	cancel()
	<-sizes
	w := watch.end()
	if err != nil {
		return err
	}
	b.figure(part, "adds per second", "", []float64{rate})
	b.figure(part, "length", "s", []float64{d.Seconds()})
	b.atMost(part, "resident memory, last third over the one before", 1.1, "x", []float64{growth(w.rss)})
	b.atMost(part, "descriptors, last third over the one before", 1.0, "x", []float64{growth(w.descriptors)})
	b.atMost(part, "size on the disk, last third over the one before", 1.1, "x", []float64{growth(size)})
	mb := func(values []float64) []float64 {
		out := make([]float64, len(values))
		for i, v := range values {
			out[i] = v / 1e6
		}
		return out
	}
	b.draw(part, "soak", "memory and size over time", lines("Soak: "+number(rate)+" adds, 500 guidelines, 2 summaries per second",
		axis{"seconds", false}, axis{"MB", false},
		[]series{{"resident memory", w.at, mb(w.rss)}, {"size on the disk", at, mb(size)}}))
	return nil
}

// mixed is the load of the soak.
func (b *bench) mixed(ctx context.Context, p *process, tools int, rate float64, d time.Duration) error {
	const part = "soak"
	reading := newTemplate(post("/retrieve_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","include_history":false}`))
	writing := newTemplate(post("/summary_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`"}`))
	loads := []struct {
		name string
		rate float64
		load *load
	}{
		{"adds", rate, adds(p.addr, 32, addTemplate("bench", 1, callBytes), tools, firstAdd)},
		{"guidelines", 500, retrieves(p.addr, 16, reading, tools)},
		{"summaries", 2, retrieves(p.addr, 2, writing, tools)},
	}
	outcomes := make([]*outcome, len(loads))
	failed := make(chan error, len(loads))
	for i, l := range loads {
		go func() {
			var err error
			outcomes[i], err = l.load.open(ctx, l.rate, d)
			failed <- err
		}()
	}
	var errs []error
	for range loads {
		errs = append(errs, <-failed)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for i, l := range loads {
		b.figure(part, l.name+", p50", "µs", []float64{outcomes[i].quantile(.5)})
		b.figure(part, l.name+", p99", "µs", []float64{outcomes[i].quantile(.99)})
	}
	return nil
}
