package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// load is requests to one server from a number of connections.
type load struct {
	addr  string
	conns int
	// request gives the n-th request; buf may be used for it and is the worker's
	// own.
	request func(n uint64, buf []byte) []byte
	// accept is which statuses are fine; nil means 200 only.
	accept func(status int) bool
	// seen, if set, is told of each answer, from many goroutines.
	seen func(n uint64, status int, a *answer, took time.Duration)
	// first is the number of the first request.
	first uint64
	// connect opens a connection; nil dials addr.
	connect func() (*client, error)
}

// outcome is what a load met.
type outcome struct {
	took     time.Duration
	requests int
	late     int                     // sent after they were due because all connections were busy
	times    *hdrhistogram.Histogram // nanoseconds
	statuses map[int]int
	bytes    int64 // of bodies answered
}

// newOutcome takes times up to ten minutes, to three digits.
func newOutcome() *outcome {
	return &outcome{times: hdrhistogram.New(1000, int64(10*time.Minute), 3), statuses: map[int]int{}}
}

func (o *outcome) rate() float64 { return float64(o.requests) / o.took.Seconds() }

// quantile is in microseconds.
func (o *outcome) quantile(q float64) float64 { return float64(o.times.ValueAtQuantile(100*q)) / 1000 }

// closed sends without pause from each connection for d.
func (l *load) closed(ctx context.Context, d time.Duration) (*outcome, error) {
	end := time.Now().Add(d)
	var next atomic.Uint64
	next.Store(l.first)
	return l.run(ctx, func() (uint64, time.Time, bool) {
		now := time.Now()
		return next.Add(1) - 1, now, now.Before(end)
	})
}

// open sends at a fixed rate for d, whatever the server does. A request's time
// counts from when it was due, unless its worker slept until then: the clock of
// a sleeper starts when it wakes, because that delay is the generator's own.
func (l *load) open(ctx context.Context, perSecond float64, d time.Duration) (*outcome, error) {
	begun := sync.OnceValue(time.Now) // once all connections are open
	total := uint64(perSecond * d.Seconds())
	var next, late atomic.Uint64
	o, err := l.run(ctx, func() (uint64, time.Time, bool) {
		start := begun()
		i := next.Add(1) - 1
		if i >= total {
			return 0, time.Time{}, false
		}
		due := start.Add(time.Duration(float64(i) / perSecond * float64(time.Second)))
		if wait := time.Until(due); wait > 0 {
			time.Sleep(wait)
			due = time.Now()
		} else {
			late.Add(1)
		}
		return l.first + i, due, true
	})
	if o != nil {
		o.late = int(late.Load())
	}
	return o, err
}

// run starts the connections; each takes requests from next until it says no. What they need is
// made before the first request is due: 1,500 connections take as long as a thousand refusals.
func (l *load) run(ctx context.Context, next func() (uint64, time.Time, bool)) (*outcome, error) {
	connect := l.connect
	if connect == nil {
		connect = func() (*client, error) { return dial(l.addr) }
	}
	clients := make([]*client, l.conns)
	results := make([]*outcome, l.conns)
	bufs := make([][]byte, l.conns)
	for i := range clients {
		c, err := connect()
		if err != nil {
			closeAll(clients)
			return nil, err
		}
		clients[i], results[i], bufs[i] = c, newOutcome(), l.request(l.first, nil)
	}
	defer closeAll(clients)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { closeAll(clients) })
	defer stop()
	var wg sync.WaitGroup
	start := time.Now()
	for i := range clients {
		wg.Go(func() {
			if err := l.work(clients[i], next, bufs[i], results[i]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	sum := newOutcome()
	sum.took = time.Since(start)
	for _, r := range results {
		sum.requests += r.requests
		sum.bytes += r.bytes
		sum.times.Merge(r.times)
		for status, n := range r.statuses {
			sum.statuses[status] += n
		}
	}
	return sum, context.Cause(ctx)
}

func closeAll(clients []*client) {
	for _, c := range clients {
		if c != nil {
			c.close()
		}
	}
}

var errStatus = errors.New("unexpected status")

func (l *load) work(c *client, next func() (uint64, time.Time, bool), buf []byte, o *outcome) error {
	var a answer
	for {
		n, since, ok := next()
		if !ok {
			return nil
		}
		buf = l.request(n, buf[:0])
		if err := c.do(buf, &a); err != nil {
			return err
		}
		took := time.Since(since)
		o.requests++
		o.bytes += int64(len(a.body))
		_ = o.times.RecordValue(min(int64(took), o.times.HighestTrackableValue())) // within the range
		o.statuses[a.status]++
		if l.seen != nil {
			l.seen(n, a.status, &a, took)
		}
		if l.accept == nil && a.status != 200 || l.accept != nil && !l.accept(a.status) {
			return fmt.Errorf("%w %d: %.300s", errStatus, a.status, a.body)
		}
	}
}

// counted gives total requests, each as soon as a connection is free.
func counted(next *atomic.Uint64, total uint64) func() (uint64, time.Time, bool) {
	return func() (uint64, time.Time, bool) {
		i := next.Add(1) - 1
		return i, time.Now(), i < total
	}
}

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

// wantedRate is the fixed rate of adds that the goals name, per second.
const wantedRate = 2000

// calmRate is the fixed rate at which latencies are taken of a server that bears
// capacity requests a second: the wanted rate, or less where that would be more
// than about half of it. Latency above that measures the queue.
func calmRate(capacity float64) float64 {
	return min(wantedRate, math.Floor(0.4*capacity/100)*100+100)
}

// addRate finds the rate for adds to one server.
func addRate(ctx context.Context, p *process, workspace string, tools int) (float64, error) {
	o, err := adds(p.addr, 64, addTemplate(workspace, 1, callBytes), tools, 1<<29).closed(ctx, 500*time.Millisecond)
	if err != nil {
		return 0, err
	}
	return calmRate(o.rate()), nil
}
