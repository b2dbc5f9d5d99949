package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// rateCase is one way in which the product may know a model's limits.
type rateCase struct {
	name   string
	known  bool // in the configuration
	limits modelLimits
	within float64 // of the bound
	refuse float64 // share of the calls that may be refused
}

// rateCases scale real limits (120 requests a minute) up tenfold, so that a run
// takes half a minute instead of five.
func rateCases() []rateCase {
	r := modelLimits{requestsPerSecond: 20, mean: 500 * time.Millisecond, credit: 500 * time.Millisecond}
	t := modelLimits{tokensPerSecond: 25_000, mean: 500 * time.Millisecond, credit: time.Second, headers: true}
	c := modelLimits{concurrency: 8, mean: 250 * time.Millisecond}
	learnt := r
	learnt.headers = true
	return []rateCase{
		{"request limit, known", true, r, 1.05, 0},
		{"token limit, known", true, t, 1.05, 0},
		{"concurrency limit, known", true, c, 1.05, 0},
		{"request limit, learnt from headers", false, learnt, 1.15, 0.05},
		{"request limit, learnt from refusals", false, r, 1.25, 2},
	}
}

// runRate judges calls through a stand-in model and compares with the bound.
func runRate(ctx context.Context, b *bench) error {
	const part = "rate"
	n := pick(b, 600, 100)
	cases := rateCases()
	if b.opts.quick {
		cases = cases[:1]
	}
	for i, c := range cases {
		counts, err := b.judgeAll(ctx, filepath.Join(b.dir, "rate-"+itoa(i)), c, n)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		took, bound := counts.last.Sub(counts.first), c.limits.bound(counts)
		b.figure(part, c.name+": time for "+itoa(n)+" calls", "s", []float64{took.Seconds()})
		b.figure(part, c.name+": bound", "s", []float64{bound.Seconds()})
		b.atMost(part, c.name+": time over the bound", c.within, "x", []float64{took.Seconds() / bound.Seconds()})
		if c.refuse < 1 {
			b.atMost(part, c.name+": refused, share of the calls", c.refuse, "", []float64{float64(counts.refused) / float64(n)})
		} else {
			b.figure(part, c.name+": refused, share of the calls", "", []float64{float64(counts.refused) / float64(n)})
		}
	}
	return b.fairness(ctx)
}

// judgeConfig is the product's configuration for a stand-in model.
func judgeConfig(url string, c rateCase) string {
	text := "llm: {default: {base_url: \"" + url + "\", model_name: stand-in, max_tokens: 64"
	if c.known {
		text += fmt.Sprintf(", requests_per_minute: %d, tokens_per_minute: %d, burst: %s", int(c.limits.requestsPerSecond*60),
			int(c.limits.tokensPerSecond*60), c.limits.credit)
		if c.limits.concurrency > 0 {
			text += fmt.Sprintf(", max_concurrency: %d", c.limits.concurrency)
		}
	}
	return text + "}}\nevaluate: {judge: llm}\n" +
		"op: {parse_tool_call_result_op: {params: {evaluation_sleep_interval: 0}}}\n"
}

// judgeAll sends n calls and waits until the model has judged them all.
func (b *bench) judgeAll(ctx context.Context, dir string, c rateCase, n int) (modelCounts, error) {
	model, err := startModel(c.limits, nil)
	if err != nil {
		return modelCounts{}, err
	}
	defer func() { _ = model.Close() }()
	p, err := b.memoryd(ctx, dir, judgeConfig(model.URL, c))
	if err != nil {
		return modelCounts{}, err
	}
	t := addTemplate("bench", 10, callBytes)
	for i := range n / 10 {
		if _, _, err := once(p.addr, string(t.fill(nil, uint64(i%20), uint64(i*64)))); err != nil {
			return modelCounts{}, errors.Join(err, p.stop())
		}
	}
	err = waitFor(ctx, 5*time.Minute, func() bool { return model.look().served >= n/10*10 })
	return model.look(), errors.Join(err, p.stop())
}

// waitFor asks ten times a second until done says yes.
func waitFor(ctx context.Context, limit time.Duration, done func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errors.New("not done after "+limit.String()))
	defer cancel()
	for !done() {
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// fairness compares how long a small workspace's calls wait alone and beside a
// big one.
func (b *bench) fairness(ctx context.Context) error {
	const part, small = "rate", 10
	c := rateCases()[0]
	var waits [2]float64
	for i, big := range []int{0, pick(b, 300, 100)} {
		var mu sync.Mutex
		var sent time.Time
		var ended []float64
		model, err := startModel(c.limits, func(prompt string) {
			mu.Lock()
			defer mu.Unlock()
			if strings.Contains(prompt, "small-marker") {
				ended = append(ended, time.Since(sent).Seconds())
			}
		})
		if err != nil {
			return err
		}
		p, err := b.memoryd(ctx, filepath.Join(b.dir, "fair-"+itoa(i)), judgeConfig(model.URL, c))
		if err != nil {
			return errors.Join(err, model.Close())
		}
		err = func() error {
			t := addTemplate("big", 10, callBytes)
			for k := range big / 10 {
				if _, _, err := once(p.addr, string(t.fill(nil, 1, uint64(k*64)))); err != nil {
					return err
				}
			}
			if big > 0 { // let the big one have its place
				if err := sleep(ctx, time.Second); err != nil {
					return err
				}
			}
			t = addWith("small", small, prose(callBytes), `,"metadata":{"description":"small-marker"}`)
			text := strings.ReplaceAll(string(t.fill(nil, 1, 0)), "how to keep a ring buffer of", "small-marker of one ring for")
			mu.Lock()
			sent = time.Now()
			mu.Unlock()
			if _, _, err := once(p.addr, text); err != nil {
				return err
			}
			return waitFor(ctx, 2*time.Minute, func() bool { mu.Lock(); defer mu.Unlock(); return len(ended) >= small })
		}()
		if err := errors.Join(err, p.stop(), model.Close()); err != nil {
			return err
		}
		sum := 0.0
		for _, w := range ended {
			sum += w
		}
		waits[i] = sum / float64(len(ended))
	}
	b.figure(part, "mean wait of a small workspace's verdicts, alone", "s", waits[:1])
	b.figure(part, "mean wait of a small workspace's verdicts, beside a big one", "s", waits[1:])
	b.atMost(part, "wait of a small workspace beside a big one over alone", 2, "x", []float64{waits[1] / waits[0]})
	return nil
}
