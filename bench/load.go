package main

import (
	"context"
	"errors"
	"fmt"
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
	start := time.Now()
	total := uint64(perSecond * d.Seconds())
	var next, late atomic.Uint64
	o, err := l.run(ctx, func() (uint64, time.Time, bool) {
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

// run starts the connections; each takes requests from next until it says no.
func (l *load) run(ctx context.Context, next func() (uint64, time.Time, bool)) (*outcome, error) {
	connect := l.connect
	if connect == nil {
		connect = func() (*client, error) { return dial(l.addr) }
	}
	clients := make([]*client, l.conns)
	for i := range clients {
		c, err := connect()
		if err != nil {
			closeAll(clients)
			return nil, err
		}
		clients[i] = c
	}
	defer closeAll(clients)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() { closeAll(clients) })
	defer stop()
	results := make([]*outcome, l.conns)
	var wg sync.WaitGroup
	start := time.Now()
	for i := range clients {
		results[i] = newOutcome()
		wg.Go(func() {
			if err := l.work(clients[i], next, results[i]); err != nil {
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

func (l *load) work(c *client, next func() (uint64, time.Time, bool), o *outcome) error {
	var buf []byte
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
