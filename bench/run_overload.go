package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// overloadCalls is how many calls a request of the overload carries. Large
// requests let a load generator on the same machine offer ten times what the
// server bears.
const overloadCalls = 50

// overload is what was seen while the server had too much to do.
type overload struct {
	accepted, refused, noAdvice atomic.Int64
	advice                      atomic.Int64 // seconds, the largest Retry-After

	mu     sync.Mutex
	waited []float64 // milliseconds until a refusal
}

func (o *overload) seen(_ uint64, status int, a *answer, took time.Duration) {
	switch status {
	case 200:
		o.accepted.Add(1)
	case 429, 503:
		o.refused.Add(1)
		o.mu.Lock()
		o.waited = append(o.waited, took.Seconds()*1000)
		o.mu.Unlock()
		seconds, err := strconv.ParseInt(a.retryAfter, 10, 64)
		if err != nil || seconds < 1 {
			o.noAdvice.Add(1)
		}
		for old := o.advice.Load(); seconds > old && !o.advice.CompareAndSwap(old, seconds); old = o.advice.Load() {
		}
	}
}

// later is the time, in milliseconds, within which that share of the refusals came.
func (o *overload) later(share float64) float64 {
	slices.Sort(o.waited)
	return o.waited[int(share*float64(len(o.waited)-1))]
}

// runOverload offers ten times the sustainable load.
func runOverload(ctx context.Context, b *bench) (err error) {
	const part = "overload"
	tools := pick(b, 200, 20)
	dir := filepath.Join(b.dir, "overload")
	p, err := b.memoryd(ctx, dir, "log: {level: error}\n")
	if err != nil {
		return err
	}
	defer func() { p.kill() }()
	t := addTemplate("bench", overloadCalls, callBytes)
	calm, err := adds(p.addr, 16, t, tools, 0).closed(ctx, pick(b, 3*time.Second, 500*time.Millisecond))
	if err != nil {
		return err
	}
	before, err := b.addTime(ctx, p.addr, 20)
	if err != nil {
		return err
	}
	b.figure(part, "sustainable, requests of 50 calls", "requests/s", []float64{calm.rate()})

	bare, err := b.bareLives(ctx, t, tools, 10*calm.rate())
	if err != nil {
		return err
	}
	var seen overload
	watch := startWatch(ctx, p)
	spent := ownTime()
	o, lived, err := b.flood(ctx, p.addr, t, tools, 10*calm.rate(), &seen)
	spent = ownTime() - spent
	watched := watch.end()
	ended := time.Now()
	if err != nil {
		return err
	}
	b.figure(part, "offered", "requests/s", []float64{10 * calm.rate()})
	b.figure(part, "answered", "requests/s", []float64{o.rate()})
	accepted := float64(seen.accepted.Load()) / o.took.Seconds()
	b.figure(part, "accepted", "requests/s", []float64{accepted})
	b.atLeast(part, "accepted over the sustainable", 0.95, []float64{accepted / calm.rate()})
	b.figure(part, "of all processor time, taken by the load generator", "", []float64{spent / o.took.Seconds() / float64(runtime.NumCPU())})
	b.figure(part, "turned away, share of the answered", "", []float64{float64(seen.refused.Load()) / float64(o.requests)})
	if seen.refused.Load() > 0 {
		b.atMost(part, "refusals without a Retry-After of at least 1 s", 0, "", []float64{float64(seen.noAdvice.Load())})
		b.figure(part, "largest Retry-After", "s", []float64{float64(seen.advice.Load())})
		b.figure(part, "refusals, p50", "ms", []float64{seen.later(0.5)})
		b.atMost(part, "refusals, p99", 50, "ms", []float64{seen.later(0.99)})
	}
	b.atMost(part, "largest resident memory", 700, "MiB", []float64{watched.maxRSS / (1 << 20)})
	b.atMost(part, "memory, last third of the overload over the one before", 1.2, "x", []float64{growth(watched.rss)})
	b.atMost(part, "answers of /livez, p99", 30, "ms", []float64{lived.Seconds() * 1000})
	b.figure(part, "answers of /livez, p99, bare Echo under the same load", "ms", []float64{bare.Seconds() * 1000})
	b.figure(part, "p99 of /livez over a bare Echo's", "x", []float64{lived.Seconds() / bare.Seconds()})
	if err := b.recovery(ctx, p, before, ended); err != nil {
		return err
	}
	return b.nothingLost(ctx, p, dir, int64(calm.requests)+seen.accepted.Load())
}

// flood offers so many requests a second and asks all the while whether the server lives.
func (b *bench) flood(ctx context.Context, addr string, t *template, tools int, perSecond float64,
	seen *overload,
) (*outcome, time.Duration, error) {
	late, err := b.startProbe(ctx, addr)
	if err != nil {
		return nil, 0, err
	}
	l := adds(addr, pick(b, 1500, 800), t, tools, 1<<24)
	l.accept = func(status int) bool { return status == 200 || status == 429 || status == 503 }
	l.seen = seen.seen
	o, err := l.open(ctx, perSecond, pick(b, 10*time.Second, 2*time.Second))
	lived, perr := late()
	return o, lived, errors.Join(err, perr)
}

// ownTime is the processor time that this process has taken, in seconds.
func ownTime() float64 {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r) // fails of wrong arguments only
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// bareLives is the p99 of the answers of /livez of a bare Echo server under the same load: what
// processors that are shared with the generator take from anybody.
func (b *bench) bareLives(ctx context.Context, t *template, tools int, perSecond float64) (_ time.Duration, err error) {
	answer := filepath.Join(b.dir, "answer.json")
	if err := os.WriteFile(answer, []byte(`{"success":true}`), 0o600); err != nil {
		return 0, err
	}
	bare, err := b.baseline(ctx, bareEcho, answer)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	_, lived, err := b.flood(ctx, bare.addr, t, tools, perSecond, &overload{})
	return lived, err
}

// addTime is the median time of single adds, in milliseconds.
func (b *bench) addTime(ctx context.Context, addr string, n int) (float64, error) {
	t := addTemplate("other", 1, callBytes)
	var times []float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		a, took, err := once(addr, string(t.fill(nil, 0, uint64(i))))
		if err != nil {
			return 0, err
		}
		if a.status != 200 {
			return 0, fmt.Errorf("%w %d", errStatus, a.status)
		}
		times = append(times, took.Seconds()*1000)
	}
	return figure("", "", times).Median, nil
}

// recovery waits until adds take no more than twice what they took before.
func (b *bench) recovery(ctx context.Context, p *process, before float64, ended time.Time) error {
	err := waitFor(ctx, 30*time.Second, func() bool {
		now, err := b.addTime(ctx, p.addr, 5)
		return err == nil && now <= 2*before+1
	})
	b.atMost("overload", "recovered after the overload", 5, "s", []float64{time.Since(ended).Seconds()})
	return err
}

// nothingLost kills the server, starts it again and counts what it holds.
func (b *bench) nothingLost(ctx context.Context, p *process, dir string, requests int64) error {
	p.kill()
	again, err := b.memoryd(ctx, dir, "")
	if err != nil {
		return err
	}
	stored, err := lifetimeCalls(again.addr, "bench")
	if err := errors.Join(err, again.stop()); err != nil {
		return err
	}
	b.atMost("overload", "acknowledged calls missing after kill -9", 0, "calls", []float64{float64(max(0, requests*overloadCalls-stored))})
	return nil
}

// lifetimeCalls adds up what the workspace's tools have accepted.
func lifetimeCalls(addr, workspace string) (int64, error) {
	a, _, err := once(addr, get("/v1/workspaces/"+workspace+"/tools?limit=1000"))
	if err != nil {
		return 0, err
	}
	var reply struct {
		Tools []struct {
			Statistics struct {
				Lifetime int64 `json:"lifetime_calls"`
			} `json:"statistics"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(a.body, &reply); err != nil {
		return 0, fmt.Errorf("list of tools: %d %.200s: %w", a.status, a.body, err)
	}
	var sum int64
	for _, t := range reply.Tools {
		sum += t.Statistics.Lifetime
	}
	return sum, nil
}

// watch looks at a process while something else goes on.
type watch struct {
	stop context.CancelFunc
	done sync.WaitGroup
	sum  watched
}

// watched is what a watch saw.
type watched struct {
	at, rss     []float64 // seconds, bytes
	descriptors []float64
	maxRSS      float64
}

func startWatch(ctx context.Context, p *process) *watch {
	ctx, cancel := context.WithCancel(ctx)
	w := &watch{stop: cancel}
	start := time.Now()
	w.done.Go(func() {
		for sleep(ctx, 100*time.Millisecond) == nil {
			if t, err := p.look(); err == nil {
				w.sum.at = append(w.sum.at, time.Since(start).Seconds())
				w.sum.rss = append(w.sum.rss, float64(t.rss))
				w.sum.descriptors = append(w.sum.descriptors, float64(t.descriptors))
				w.sum.maxRSS = max(w.sum.maxRSS, float64(t.rss))
			}
		}
	})
	return w
}

func (w *watch) end() watched {
	w.stop()
	w.done.Wait()
	return w.sum
}

// growth is the largest of the last third of the values over the largest of the
// third before: what rises at the beginning is not growth.
func growth(values []float64) float64 {
	third := len(values) / 3
	if third == 0 {
		return 1
	}
	return figure("", "", values[2*third:]).High / figure("", "", values[third:2*third]).High
}
