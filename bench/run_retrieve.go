package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// retrieveRate is far below half of what either server bears.
const retrieveRate = 1000

// runRetrieve compares guidelines with a bare handler that answers the same
// bytes, idle and beside adds, and times what else reads a history.
func runRetrieve(ctx context.Context, b *bench) (err error) {
	tools := pick(b, 200, 20)
	p, err := b.memoryd(ctx, filepath.Join(b.dir, "retrieve"),
		"op: {parse_tool_call_result_op: {params: {max_history_tool_call_cnt: 1000}}}\n")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	if err := summarise(ctx, p.addr, "bench", tools); err != nil {
		return err
	}
	t := newTemplate(post("/retrieve_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","include_history":false}`))
	answer, err := b.recordAnswer(p.addr, string(t.fill(nil, 0, 0)))
	if err != nil {
		return err
	}
	bare, err := b.baseline(ctx, bareEcho, answer)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.stop()) }()
	if err := b.retrieveIdle(ctx, t, tools, p, bare); err != nil {
		return err
	}
	if err := b.retrieveBusy(ctx, t, tools, p, bare); err != nil {
		return err
	}
	return b.readings(ctx, p)
}

// retrieves is a load of requests made from t.
func retrieves(addr string, conns int, t *template, tools int) *load {
	return &load{addr: addr, conns: conns, request: func(n uint64, buf []byte) []byte { return t.fill(buf, spread(n, tools), 0) }}
}

func (b *bench) retrieveIdle(ctx context.Context, t *template, tools int, p, bare *process) error {
	const part = "retrieve"
	list := []*contestant{{label: "memoryd, guideline only", p: p}, {label: "bare Echo, same bytes", p: bare}}
	for range pick(b, 3, 1) {
		for _, c := range list {
			if err := c.hammer(ctx, retrieves(c.p.addr, 64, t, tools), pick(b, time.Second, 300*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	for range pick(b, 7, 3) {
		for _, c := range list {
			if err := c.pace(ctx, retrieves(c.p.addr, 16, t, tools), retrieveRate, pick(b, 2*time.Second, 500*time.Millisecond)); err != nil {
				return err
			}
		}
	}
	for _, c := range list {
		b.figure(part, c.label+", p50 at 1,000/s", "µs", c.p50)
		b.figure(part, c.label+", p99 at 1,000/s", "µs", c.p99)
		b.figure(part, c.label+", 64 connections", "requests/s", c.rate)
		b.figure(part, c.label+", processor time", "µs", c.cpu)
	}
	b.atMost(part, "p50 of a guideline over a bare handler's", 1.15, "x", ratios(list[0].p50, list[1].p50))
	b.atMost(part, "p99 of a guideline over a bare handler's", 1.30, "x", ratios(list[0].p99, list[1].p99))
	b.draw(part, "retrieve", "latency of a guideline", percentiles("Latency of a guideline, open loop, 1,000/s", list))
	return nil
}

// retrieveBusy lets adds run beside.
func (b *bench) retrieveBusy(ctx context.Context, t *template, tools int, p, bare *process) error {
	const part = "retrieve"
	adding := addTemplate("bench", 1, callBytes)
	d := pick(b, 2*time.Second, 500*time.Millisecond)
	first := uint64(firstAdd)
	rate, err := addRate(ctx, p, "bench", tools)
	if err != nil {
		return err
	}
	var busy, idle []float64
	for range pick(b, 5, 2) {
		o, err := retrieves(bare.addr, 16, t, tools).open(ctx, retrieveRate, d)
		if err != nil {
			return err
		}
		idle = append(idle, o.quantile(.99))
		side := make(chan error, 1)
		go func() {
			_, err := adds(p.addr, 32, adding, tools, first).open(ctx, rate, d)
			side <- err
		}()
		o, err = retrieves(p.addr, 16, t, tools).open(ctx, retrieveRate, d)
		if err := errors.Join(err, <-side); err != nil {
			return err
		}
		first += uint64(rate * d.Seconds())
		busy = append(busy, o.quantile(.99))
	}
	b.figure(part, "memoryd, p99 at 1,000/s beside "+number(rate)+" adds/s", "µs", busy)
	b.atMost(part, "p99 beside "+number(rate)+" adds/s over an idle bare handler's", 2.5, "x", ratios(busy, idle))
	return nil
}

// readings times what works on a whole history.
func (b *bench) readings(ctx context.Context, p *process) error {
	const part = "retrieve"
	for space, calls := range map[string]int{"short": keptCalls, "long": 1000} { // "bench" has had adds since
		if err := fill(ctx, p.addr, space, 1, calls); err != nil {
			return err
		}
	}
	n := pick(b, 15, 5)
	summary := func(workspace string) string {
		return post("/summary_tool_memory", `{"workspace_id":"`+workspace+`","tool_names":"`+toolName(0)+`","force":true}`)
	}
	short, err := timesOf(n, p.addr, summary("short"), summary("short"))
	if err != nil {
		return err
	}
	b.atMost(part, "summary of a tool with 100 calls, no model", 4, "ms", short)
	long, err := timesOf(n, p.addr, summary("long"), summary("long"))
	if err != nil {
		return err
	}
	b.atMost(part, "summary of a tool with 1,000 calls, evidence included", 50, "ms", long)
	check := post("/preflight_tool_call", `{"workspace_id":"long","tool_name":"`+toolName(0)+`","input":{"query":"how","max_results":99}}`)
	if err := waitFor(ctx, 30*time.Second, func() bool { // the first forecast learns from a hundred calls, the next ones while it learns the rest
		a, _, err := once(p.addr, check)
		return err == nil && (a.status != 200 || bytes.Contains(a.body, []byte(`"judged_calls":1000`)))
	}); err != nil {
		return fmt.Errorf("forecasts of 1,000 calls: %w", err)
	}
	times, err := timesOf(10*n, p.addr, check, check)
	if errors.Is(err, errNotOffered) {
		b.note(part, "This build does not offer /preflight_tool_call.")
		times, err = nil, nil
	}
	b.atMost(part, "preflight at 1,000 calls", 0.3, "ms", times)
	return err
}

var errNotOffered = errors.New("the endpoint is not there")

// timesOf sends a request n times on one connection, after another one to warm
// up, and gives milliseconds.
func timesOf(n int, addr, warm, request string) ([]float64, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var times []float64
	var a answer
	for i := range n + 1 {
		text := request
		if i == 0 {
			text = warm
		}
		start := time.Now()
		if err := c.do([]byte(text), &a); err != nil {
			return nil, err
		}
		if a.status == 404 {
			return nil, errNotOffered
		}
		var reply struct{ Success *bool }
		if err := json.Unmarshal(a.body, &reply); err != nil || a.status != 200 || reply.Success != nil && !*reply.Success {
			path, _, _ := strings.Cut(request, " HTTP")
			return nil, fmt.Errorf("%s: %d %.200s", path, a.status, a.body)
		}
		if i > 0 {
			times = append(times, float64(time.Since(start).Microseconds())/1000)
		}
	}
	return times, nil
}
