package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// process is a server that was started to be measured.
type process struct {
	addr string
	cmd  *exec.Cmd
	log  string // file with what it wrote to its standard error
	done chan struct{}
	// ready is how long it took from its start to its ready line.
	ready time.Duration
}

var readyAddress = regexp.MustCompile(`http://([0-9.]+:[0-9]+)`)

// memoryd starts the product with its data in dir. config is YAML that differs
// from the defaults; "" is none.
func (b *bench) memoryd(ctx context.Context, dir, config string) (*process, error) {
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if config != "" {
		path := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
			return nil, err
		}
		args = append(args, "--config", path)
	}
	return startProcess(ctx, dir, b.binary, args...)
}

// baseline starts one of the servers of this program.
func (b *bench) baseline(ctx context.Context, kind baselineKind, args ...string) (*process, error) {
	dir, err := os.MkdirTemp(b.dir, string(kind)+"-")
	if err != nil {
		return nil, err
	}
	return startProcess(ctx, dir, b.self, append([]string{baselineCommand, string(kind), dir}, args...)...)
}

// startProcess starts a server and waits for its ready line.
func startProcess(ctx context.Context, dir, binary string, args ...string) (*process, error) {
	p := &process{done: make(chan struct{}), log: filepath.Join(dir, "stderr.log")}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.CommandContext(ctx, binary, args...)
	p.cmd.Env, p.cmd.Stderr = cleanEnv(), log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	p.ready = time.Since(start)
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = p.cmd.Wait()
		close(p.done)
	}()
	m := readyAddress.FindStringSubmatch(line)
	if err != nil || m == nil {
		p.kill()
		return nil, fmt.Errorf("%s did not start: %q: %s", filepath.Base(binary), line, tail(p.log))
	}
	p.addr = m[1]
	return p, nil
}

// cleanEnv is the environment without settings of memoryd and of models.
func cleanEnv() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MEMORYD_") && !strings.HasPrefix(pair, "OPENAI_") {
			env = append(env, pair)
		}
	}
	return env
}

// tail is the end of a log.
func tail(path string) string {
	data, _ := os.ReadFile(path)
	return string(data[max(0, len(data)-2000):])
}

// kill ends the process as a power cut would, and waits for its end.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stopTimeout bounds how long a server may take to stop.
const stopTimeout = 60 * time.Second

// stop asks the process to end and waits for it.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(stopTimeout):
		p.kill()
		return errors.New("the server did not stop: " + tail(p.log))
	}
}

// taken is what a process has taken, as Linux counts it.
type taken struct {
	rss         int64 // bytes resident now
	descriptors int
	threads     int
	cpu         time.Duration
	written     int64 // bytes sent towards the disk
}

// look reads the process's counters.
func (p *process) look() (taken, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err != nil {
		return taken{}, err
	}
	stat, err := proc.Stat()
	if err != nil {
		return taken{}, err
	}
	io, err := proc.IO()
	if err != nil {
		return taken{}, err
	}
	descriptors, err := proc.FileDescriptorsLen()
	return taken{
		rss: int64(stat.ResidentMemory()), descriptors: descriptors, threads: stat.NumThreads,
		cpu: time.Duration(stat.CPUTime() * float64(time.Second)), written: int64(io.WriteBytes),
	}, err
}

// sizeOf adds up the files of a folder.
func sizeOf(dir string) int64 {
	var sum int64
	_ = filepath.Walk(dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			sum += info.Size()
		}
		return nil // a file may vanish meanwhile
	})
	return sum
}

// probeCommand is the hidden sub-command that asks a server whether it lives.
const probeCommand = "probe"

// errNoAnswer is a server that did not answer at all.
var errNoAnswer = errors.New("/livez was not answered")

// probe asks the server at addr for /livez, twenty times a second until in ends,
// and writes the p99 of its answers. It is a process of its own, as whoever watches a
// server is: a generator that floods it does not answer to itself in time either.
func probe(ctx context.Context, addr string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.close()
	var a answer
	var took []time.Duration
	request := []byte(get("/livez"))
	for sleep(ctx, 50*time.Millisecond) == nil {
		asked := time.Now()
		if err := c.do(request, &a); err != nil {
			return errors.Join(errNoAnswer, err)
		}
		took = append(took, time.Since(asked))
	}
	if len(took) == 0 {
		return errNoAnswer
	}
	slices.Sort(took)
	_, err = fmt.Fprintln(out, took[len(took)*99/100])
	return err
}

// startProbe begins to ask a server; end gives the p99 of the answers.
func (b *bench) startProbe(ctx context.Context, addr string) (end func() (time.Duration, error), err error) {
	cmd := exec.CommandContext(ctx, b.self, probeCommand, addr)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return func() (time.Duration, error) {
		err := in.Close()
		line, rerr := bufio.NewReader(out).ReadString('\n')
		if err := errors.Join(err, rerr, cmd.Wait()); err != nil {
			return 0, errors.Join(errNoAnswer, err)
		}
		return time.ParseDuration(line[:len(line)-1])
	}, nil
}
