package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	qd "github.com/qdrant/go-client/qdrant"
)

// remote is the Qdrant that the flag -qdrant names, and what this run made there.
type remote struct {
	b      *bench
	admin  *qd.Client
	host   string
	port   int
	prefix string
}

// openRemote connects as memoryd does by default: by three connections.
func (b *bench) openRemote(ctx context.Context) (*remote, error) {
	host, text, err := net.SplitHostPort(b.opts.qdrant)
	if err != nil {
		return nil, fmt.Errorf("-qdrant: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("-qdrant: %w", err)
	}
	admin, err := qd.NewClient(&qd.Config{Host: host, Port: port, SkipCompatibilityCheck: true, PoolSize: 3})
	if err != nil {
		return nil, err
	}
	r := &remote{b: b, admin: admin, host: host, port: port, prefix: fmt.Sprintf("bench%d_", rand.Uint32())}
	health, err := admin.HealthCheck(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("-qdrant: %w", err), admin.Close())
	}
	b.note("qdrant", "Qdrant %s, one node, on the same machine.", health.GetVersion())
	return r, nil
}

// close removes what the run made.
func (r *remote) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	names, err := r.admin.ListCollections(ctx)
	errs := []error{err}
	for _, name := range names {
		if strings.HasPrefix(name, r.prefix) {
			errs = append(errs, r.admin.DeleteCollection(ctx, name))
		}
	}
	return errors.Join(append(errs, r.admin.Close())...)
}

// memoryd starts the product on collections of its own. The rounds that write guidelines
// are off: of their ten minutes, a turn is a second.
func (r *remote) memoryd(ctx context.Context, name string) (*process, error) {
	return r.b.memoryd(ctx, filepath.Join(r.b.dir, "qdrant-"+name), fmt.Sprintf(
		"store: {backend: qdrant, qdrant: {host: %s, port: %d, prefix: %s%s_}}\nrevisions: {interval: 0s}\n", r.host, r.port, r.prefix, name))
}

// runQdrant measures the product on a Qdrant: whether a hot tool gets slower, and what
// an add costs beside the bare writes of what it writes.
func runQdrant(ctx context.Context, b *bench) (err error) {
	if b.opts.qdrant == "" {
		b.note("qdrant", "Left out: -qdrant named no server.")
		return nil
	}
	r, err := b.openRemote(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close(context.WithoutCancel(ctx))) }()
	for _, tools := range []int{200, 1} {
		if err := r.against(ctx, tools); err != nil {
			return err
		}
	}
	return r.flat(ctx)
}

// waitingAdd is an add whose answer tells the tool's statistics.
func waitingAdd() *template {
	return newTemplate(post("/add_tool_call_result", `{"workspace_id":"bench","tool_name":"tool-`+toolMark+
		`","include_history":false,"tool_call_results":[`+item(prose(callBytes), "")+`]}`))
}

// against compares adds with bare writes of the same points.
func (r *remote) against(ctx context.Context, tools int) (err error) {
	const part, conns = "qdrant", 64
	b, name := r.b, fmt.Sprint("t", tools)
	p, err := r.memoryd(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	raw, err := r.rawPoints(ctx, name)
	if err != nil {
		return err
	}
	list := []*contestant{{label: "adds", p: p}, {label: "adds that do not wait", p: p}}
	loads := []*template{waitingAdd(), addTemplate("bench", 1, callBytes)}
	var bare []float64
	first := uint64(firstAdd)
	d := pick(b, 4*time.Second, time.Second)
	warm, err := adds(p.addr, conns, loads[0], tools, first).closed(ctx, d)
	if err != nil {
		return err
	}
	first += uint64(warm.requests)
	for range pick(b, 5, 2) {
		for i, c := range list {
			if err := c.hammer(ctx, adds(p.addr, conns, loads[i], tools, first), d); err != nil {
				return err
			}
			first += uint64(c.last.requests)
		}
		rate, err := raw.rate(ctx, conns, d)
		if err != nil {
			return err
		}
		bare = append(bare, rate)
	}
	of, goal := ", 64 connections, "+number(float64(tools))+" tools", 0.6
	if tools == 1 {
		of, goal = ", 64 connections, one tool", 0.35
	}
	for _, c := range list {
		b.figure(part, c.label+of, "adds/s", c.rate)
		b.figure(part, c.label+of+", processor time of memoryd", "µs", c.cpu)
	}
	b.figure(part, "bare writes of the same points"+of, "writes/s", bare)
	b.atLeast(part, "adds/s over bare writes"+of, goal, ratios(list[0].rate, bare))
	b.atLeast(part, "adds/s that do not wait over bare writes"+of, goal, ratios(list[1].rate, bare))
	return nil
}

// rawWrites are the points of calls, to be written as they are under other ids.
type rawWrites struct {
	client     *qd.Client
	collection string
	calls      [][]*qd.PointStruct
}

// rawPoints reads the points that the product wrote, and has it make collections for
// others.
func (r *remote) rawPoints(ctx context.Context, name string) (*rawWrites, error) {
	empty, err := r.memoryd(ctx, name+"raw")
	if err != nil {
		return nil, err
	}
	if err := empty.stop(); err != nil {
		return nil, err
	}
	w := &rawWrites{client: r.admin, collection: r.prefix + name + "raw_calls"}
	found, err := r.admin.Scroll(ctx, &qd.ScrollPoints{
		CollectionName: r.prefix + name + "_calls", Limit: new(uint32(2000)), WithPayload: qd.NewWithPayload(true),
	})
	if err != nil {
		return nil, err
	}
	vectors := map[string]*qd.Vector{"pack": qd.NewVectorDense([]float32{1})} // as the store's points have it
	byCall := map[string][]*qd.PointStruct{}
	for _, p := range found {
		call := p.GetId().GetUuid()
		if p.GetPayload()["content_of"] != nil { // a content's point says whose it is
			call = p.GetPayload()["tool_id"].GetStringValue()
		}
		byCall[call] = append(byCall[call], &qd.PointStruct{Payload: p.GetPayload(), Vectors: qd.NewVectorsMap(vectors)})
	}
	for _, points := range byCall {
		if len(points) == 2 {
			w.calls = append(w.calls, points)
		}
	}
	if len(w.calls) == 0 {
		return nil, fmt.Errorf("none of %d points belong together", len(found))
	}
	return w, nil
}

// rate writes calls, each by a request that waits until it is applied.
func (w *rawWrites) rate(ctx context.Context, writers int, d time.Duration) (float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var n atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range writers {
		wg.Go(func() {
			for time.Since(start) < d && ctx.Err() == nil {
				call := w.calls[int(n.Add(1))%len(w.calls)]
				points := make([]*qd.PointStruct, len(call))
				for i, p := range call {
					points[i] = &qd.PointStruct{Id: qd.NewIDUUID(uuid.NewString()), Payload: p.GetPayload(), Vectors: p.GetVectors()}
				}
				if _, err := w.client.Upsert(ctx, &qd.UpsertPoints{CollectionName: w.collection, Wait: new(true), Points: points}); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return float64(n.Load()) / time.Since(start).Seconds(), nil
}

// settled waits until Qdrant has put its calls in order, as after any bulk.
func (r *remote) settled(ctx context.Context, name string) error {
	for quiet := 0; quiet < 5; { // it looks for work now and then
		info, err := r.admin.GetCollectionInfo(ctx, r.prefix+name+"_calls")
		if err != nil {
			return err
		}
		if quiet++; info.GetStatus() != qd.CollectionStatus_Green {
			quiet = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
	return nil
}

// flat compares a tool of many stored calls with one of few, each in collections of its
// own: adds one after another, guidelines and forecasts. Before each round Qdrant has put
// in order what came, so that none pays for what was written beside the other.
func (r *remote) flat(ctx context.Context) (err error) {
	const part, few = "qdrant", 1000
	b, stored := r.b, []int{few, pick(r.b, 200_000, 10_000)}
	reading := newTemplate(post("/retrieve_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","include_history":false}`))
	planned := newTemplate(post("/preflight_tool_call", `{"workspace_id":"bench","tool_name":"tool-`+toolMark+`","input":{"query":"how"}}`))
	var list []*contestant
	defer func() {
		for _, c := range list {
			err = errors.Join(err, c.p.stop())
		}
	}()
	for i, n := range stored {
		p, err := r.memoryd(ctx, fmt.Sprint("flat", i))
		if err != nil {
			return err
		}
		list = append(list, &contestant{label: number(float64(n)) + " stored calls of one tool", p: p})
		start := time.Now()
		if err := fill(ctx, p.addr, "bench", 1, n); err != nil {
			return err
		}
		filled := time.Since(start)
		if err := r.settled(ctx, fmt.Sprint("flat", i)); err != nil {
			return err
		}
		b.note(part, "Filled with %s calls of one tool in %.0f s; Qdrant was done with them %.0f s later.", number(float64(n)),
			filled.Seconds(), (time.Since(start) - filled).Seconds())
	}
	var add, read, foresee, crowd [2][]float64
	first := uint64(firstAdd)
	d := pick(b, 3*time.Second, time.Second)
	for range pick(b, 5, 2) {
		for i := range list {
			if err := r.settled(ctx, fmt.Sprint("flat", i)); err != nil {
				return err
			}
		}
		for i, c := range list {
			o, err := adds(c.p.addr, 1, waitingAdd(), 1, first).closed(ctx, d)
			if err != nil {
				return err
			}
			first += uint64(o.requests)
			add[i] = append(add[i], o.quantile(.5)/1000)
			if o, err = retrieves(c.p.addr, 1, reading, 1).closed(ctx, d/2); err != nil {
				return err
			}
			read[i] = append(read[i], o.quantile(.5)/1000)
			if o, err = retrieves(c.p.addr, 1, planned, 1).closed(ctx, d/2); err != nil {
				return err
			}
			foresee[i] = append(foresee[i], o.quantile(.5)/1000)
			if o, err = adds(c.p.addr, 64, waitingAdd(), 1, first).closed(ctx, d); err != nil {
				return err
			}
			first += uint64(o.requests)
			crowd[i] = append(crowd[i], 1e3/o.rate())
		}
	}
	for i, c := range list {
		b.figure(part, "an add beside "+c.label+", one connection", "ms", add[i])
		b.figure(part, "a retrieve beside "+c.label+", one connection", "ms", read[i])
		b.figure(part, "a forecast beside "+c.label+", one connection", "ms", foresee[i])
		b.figure(part, "cost of an add beside "+c.label+", 64 connections", "ms", crowd[i])
	}
	b.atMost(part, "an add, much stored over little", 1.2, "x", ratios(add[1], add[0]))
	b.atMost(part, "a retrieve, much stored over little", 1.2, "x", ratios(read[1], read[0]))
	b.atMost(part, "a forecast, much stored over little", 1.2, "x", ratios(foresee[1], foresee[0]))
	b.atMost(part, "cost of an add at 64 connections, much stored over little", 1.2, "x", ratios(crowd[1], crowd[0]))
	return nil
}
