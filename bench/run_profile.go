package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"time"
)

// profileCommand shows where the processor's time goes.
const profileCommand = "profile"

// pprofAddress is where the product says that it serves profiles.
var pprofAddress = regexp.MustCompile(`setting=http.pprof_listen address=(\S+)`)

// pprof is where a server that was told to serves profiles.
func (p *process) pprof() (string, error) {
	starts := pprofAddress.FindAllStringSubmatch(tail(p.log), -1)
	if len(starts) == 0 {
		return "", errors.New("the server does not say where pprof is: " + tail(p.log))
	}
	return "http://" + starts[len(starts)-1][1] + "/debug/pprof", nil
}

// runProfile takes a profile of the product under a load.
func runProfile(ctx context.Context, b *bench) (err error) {
	p, err := b.memoryd(ctx, filepath.Join(b.dir, "profile"), "http: {pprof_listen: \"127.0.0.1:0\"}\n")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	tools := pick(b, 1000, 50)
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	pprof, err := p.pprof()
	if err != nil {
		return err
	}
	l, err := b.profiledLoad(ctx, p, tools)
	if err != nil {
		return err
	}
	warm, err := l.closed(ctx, pick(b, 3*time.Second, time.Second)) // what only a first request does is no cost of an add
	if err != nil {
		return err
	}
	l.first += uint64(warm.requests)
	seconds := pick(b, 10, 3)
	type fetched struct {
		path string
		err  error
	}
	fetch := func(kind, name string) chan fetched {
		got := make(chan fetched, 1)
		go func() {
			path, err := b.fetchProfile(ctx, fmt.Sprintf("%s/%s?seconds=%d", pprof, kind, seconds), name)
			got <- fetched{path, err}
		}()
		return got
	}
	fetchCPU, fetchAllocs := fetch("profile", "cpu"), fetch("allocs", "allocs")
	if _, err := l.closed(ctx, time.Duration(seconds)*time.Second+500*time.Millisecond); err != nil {
		return err
	}
	cpu, allocs := <-fetchCPU, <-fetchAllocs
	if err := errors.Join(cpu.err, allocs.err); err != nil {
		return err
	}
	return errors.Join(b.top(ctx, cpu.path), b.top(ctx, cpu.path, "-cum"), b.top(ctx, allocs.path, "-sample_index=alloc_space"), b.keep(cpu.path))
}

// profiledLoad is the load that -part names.
func (b *bench) profiledLoad(ctx context.Context, p *process, tools int) (*load, error) {
	switch b.opts.only {
	case "add":
		return adds(p.addr, 64, addTemplate("bench", 1, callBytes), tools, firstAdd), nil
	case "batch":
		return adds(p.addr, 16, addTemplate("bench", 50, callBytes), tools, firstAdd), nil
	case "retrieve":
		t := newTemplate(post("/retrieve_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","include_history":false}`))
		return retrieves(p.addr, 64, t, tools), summarise(ctx, p.addr, "bench", tools)
	case "summary":
		t := newTemplate(post("/summary_tool_memory", `{"workspace_id":"bench","tool_names":"tool-`+toolMark+`","force":true}`))
		return retrieves(p.addr, 2, t, tools), nil
	case "compact":
		return &load{addr: p.addr, conns: 2, request: func(n uint64, _ []byte) []byte {
			return []byte(post("/compact_conversation", conversation(100_000, fmt.Sprint(n))))
		}}, nil
	}
	return nil, fmt.Errorf("-part: %q is not add, batch, retrieve, summary or compact", b.opts.only)
}

// keep leaves the profile where -keep says.
func (b *bench) keep(path string) error {
	if b.opts.keep == "" {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(b.opts.keep, data, 0o644)
}

func (b *bench) fetchProfile(ctx context.Context, url, name string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	f, err := os.Create(filepath.Join(b.dir, name+".pprof"))
	if err != nil {
		return "", err
	}
	_, err = f.ReadFrom(resp.Body)
	return f.Name(), errors.Join(err, f.Close())
}

// top prints the largest entries of a profile.
func (b *bench) top(ctx context.Context, path string, flags ...string) error {
	args := append([]string{"tool", "pprof", "-top", "-nodecount=45"}, flags...)
	tool := exec.CommandContext(ctx, "go", append(args, path)...)
	tool.Stdout, tool.Stderr = b.out, os.Stderr
	return tool.Run()
}
