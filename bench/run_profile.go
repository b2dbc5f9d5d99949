package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// profileCommand shows where the processor's time goes.
const profileCommand = "profile"

// profileSource is compiled into a copy of the product: it offers pprof on an
// address that it writes to a file, so that a profile needs no setting.
const profileSource = `package main

import (
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
)

func init() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(os.Getenv("BENCH_PPROF_FILE"), []byte(l.Addr().String()), 0o600); err != nil {
		panic(err)
	}
	go func() { panic(http.Serve(l, nil)) }()
}
`

// runProfile takes a profile of the product under a load.
func runProfile(ctx context.Context, b *bench) (err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	binary, err := b.buildProfiled(ctx, root)
	if err != nil {
		return err
	}
	b.binary = binary
	where := filepath.Join(b.dir, "pprof-address")
	if err := os.Setenv("BENCH_PPROF_FILE", where); err != nil {
		return err
	}
	p, err := b.memoryd(ctx, filepath.Join(b.dir, "profile"), "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	addr, err := os.ReadFile(where)
	if err != nil {
		return err
	}
	tools := pick(b, 1000, 50)
	if err := fill(ctx, p.addr, "bench", tools, keptCalls); err != nil {
		return err
	}
	l, err := b.profiledLoad(ctx, p, tools)
	if err != nil {
		return err
	}
	seconds := pick(b, 10, 3)
	type fetched struct {
		path string
		err  error
	}
	got := make(chan fetched, 1)
	go func() {
		path, err := b.fetchProfile(ctx, fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", addr, seconds), "cpu")
		got <- fetched{path, err}
	}()
	if _, err := l.closed(ctx, time.Duration(seconds)*time.Second+500*time.Millisecond); err != nil {
		return err
	}
	cpu := <-got
	if cpu.err != nil {
		return cpu.err
	}
	allocs, err := b.fetchProfile(ctx, fmt.Sprintf("http://%s/debug/pprof/allocs", addr), "allocs")
	if err != nil {
		return err
	}
	return errors.Join(b.top(ctx, cpu.path), b.top(ctx, cpu.path, "-cum"), b.top(ctx, allocs, "-sample_index=alloc_space"), b.keep(cpu.path))
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
	case "compact":
		return &load{addr: p.addr, conns: 2, request: func(n uint64, _ []byte) []byte {
			return []byte(post("/compact_conversation", conversation(100_000, fmt.Sprint(n))))
		}}, nil
	}
	return nil, fmt.Errorf("-part: %q is not add, batch, retrieve or compact", b.opts.only)
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

// buildProfiled builds the product with one more file, without touching the tree.
func (b *bench) buildProfiled(ctx context.Context, root string) (string, error) {
	source := filepath.Join(b.dir, "pprof.go")
	if err := os.WriteFile(source, []byte(profileSource), 0o600); err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "cmd", "memoryd", "bench_pprof.go"): source}})
	if err != nil {
		return "", err
	}
	list := filepath.Join(b.dir, "overlay.json")
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		return "", err
	}
	binary := filepath.Join(b.dir, "memoryd-profiled")
	build := exec.CommandContext(ctx, "go", "build", "-overlay", list, "-o", binary, "./cmd/memoryd")
	build.Dir, build.Stderr = root, os.Stderr
	return binary, build.Run()
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	return filepath.Dir(string(out)), nil
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
	defer resp.Body.Close()
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
