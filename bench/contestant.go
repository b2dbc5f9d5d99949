package main

import (
	"context"
	"fmt"
	"time"
)

// contestant is a server that takes its turn, and what it did in each.
type contestant struct {
	label   string
	p       *process
	rate    []float64 // requests per second, closed loop
	cpu     []float64 // microseconds of processor per request, closed loop
	p50     []float64 // microseconds, open loop
	p99     []float64
	last    *outcome // of the newest turn
	sent    int      // requests of all closed loops
	written float64  // bytes to the disk during them
}

// hammer is a turn in a closed loop.
func (c *contestant) hammer(ctx context.Context, l *load, d time.Duration) error {
	before, err := c.p.look()
	if err != nil {
		return err
	}
	o, err := l.closed(ctx, d)
	if err != nil {
		return fmt.Errorf("%s: %w", c.label, err)
	}
	after, err := c.p.look()
	if err != nil {
		return err
	}
	c.last = o
	c.rate = append(c.rate, o.rate())
	c.cpu = append(c.cpu, float64((after.cpu-before.cpu).Microseconds())/float64(o.requests))
	c.sent += o.requests
	c.written += float64(after.written - before.written)
	return nil
}

// pace is a turn at a fixed rate.
func (c *contestant) pace(ctx context.Context, l *load, perSecond float64, d time.Duration) error {
	o, err := l.open(ctx, perSecond, d)
	if err != nil {
		return fmt.Errorf("%s: %w", c.label, err)
	}
	c.last = o
	c.p50, c.p99 = append(c.p50, o.quantile(.5)), append(c.p99, o.quantile(.99))
	return nil
}

// percentiles draws the newest open loop of each.
func percentiles(title string, list []*contestant) chart {
	var out []series
	for _, c := range list {
		s := series{label: c.label}
		for _, tail := range []float64{.9, .7, .5, .3, .2, .1, .05, .02, .01, .005, .002, .001} {
			s.x, s.y = append(s.x, 1/tail), append(s.y, c.last.quantile(1-tail))
		}
		out = append(out, s)
	}
	return lines(title, axis{"one request in … is slower", true}, axis{"µs", true}, out)
}
