// Package daemon starts, asks, kills and stops the real program, for the tests
// that look at it from outside.
package daemon

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Binary is the path of a built program.
type Binary string

// Build makes the program in dir, unless MEMORYD_TEST_BINARY names one that is built.
func Build(dir string) (Binary, error) {
	if built := os.Getenv("MEMORYD_TEST_BINARY"); built != "" {
		return Binary(built), nil
	}
	path := filepath.Join(dir, "memoryd")
	build := exec.Command("go", "build", "-o", path, "memoryd/cmd/memoryd")
	build.Stderr = os.Stderr
	return Binary(path), build.Run()
}

// Main builds the program, puts its path into binary and runs the tests: it is
// the body of a TestMain.
func Main(m *testing.M, binary *Binary) int {
	dir, err := os.MkdirTemp("", "memoryd-test-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		*binary, err = Build(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Process is a running server.
type Process struct {
	URL   string
	Ready string // the line that it printed when it was ready; "" if it ended first

	t      testing.TB
	cmd    *exec.Cmd
	log    *output
	done   chan struct{}
	client *http.Client
}

// connections is how many connections to a server stay open between requests.
const connections = 64

// output collects what a process writes.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

var address = regexp.MustCompile(`https?://[0-9a-f.:[\]]+`)

// Start runs the server on a free port with its data in dir, and waits until it
// is ready. The variables are added to an environment that knows no model. It is
// killed when the test ends.
func (b Binary) Start(t testing.TB, dir string, env []string, args ...string) *Process {
	t.Helper()
	p := b.Try(t, dir, env, args...)
	if p.Ready == "" {
		t.Fatalf("no ready line\n%s", p.log)
	}
	return p
}

// Try is Start for a server that may refuse to run: then Ready is empty and the
// process has ended.
func (b Binary) Try(t testing.TB, dir string, env []string, args ...string) *Process {
	t.Helper()
	p, out := b.launch(t, dir, env, args...)
	lines := bufio.NewReader(out)
	p.Ready, _ = lines.ReadString('\n')
	p.URL = address.FindString(p.Ready)
	p.wait(lines)
	if p.Ready == "" {
		<-p.done
	}
	return p
}

// Launch runs the server without waiting until it is ready.
func (b Binary) Launch(t testing.TB, dir string, args ...string) *Process {
	t.Helper()
	p, out := b.launch(t, dir, nil, args...)
	p.wait(out)
	return p
}

func (b Binary) launch(t testing.TB, dir string, env []string, args ...string) (*Process, io.Reader) {
	t.Helper()
	p := &Process{t: t, log: &output{}, done: make(chan struct{})}
	p.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	p.cmd = exec.Command(string(b), append([]string{"serve", "--listen", "127.0.0.1:0", "--data", dir}, args...)...)
	p.cmd.Env = append(cleanEnv(RuntimeDir(t)), env...)
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p, out
}

// wait follows the process to its end, or the test's.
func (p *Process) wait(out io.Reader) {
	p.t.Cleanup(p.Kill)
	go func() {
		_, _ = io.Copy(io.Discard, out)
		_ = p.cmd.Wait()
		p.client.CloseIdleConnections()
		close(p.done)
	}()
}

// RuntimeDir makes a folder for sockets, whose path is short enough for them.
func RuntimeDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "memoryd-run-") //nolint:usetesting // its path is short enough
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// cleanEnv is the environment without settings of memoryd and of models, and without
// the servers of whoever runs the test.
func cleanEnv(runtimeDir string) []string {
	env := []string{"XDG_RUNTIME_DIR=" + runtimeDir, "MEMORYD_NO_DAEMON=true"}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "XDG_RUNTIME_DIR=") && !strings.HasPrefix(pair, "MEMORYD_") && !strings.HasPrefix(pair, "OPENAI_") {
			env = append(env, pair)
		}
	}
	return env
}

// Kill ends the process with SIGKILL and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Stop asks the process to end and returns its exit code.
func (p *Process) Stop() int {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("still running two minutes after SIGTERM\n%s", p.log)
	}
	return p.ExitCode()
}

// ExitCode is that of a process that has ended.
func (p *Process) ExitCode() int { return p.cmd.ProcessState.ExitCode() }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Log gives what the process wrote to its standard error so far.
func (p *Process) Log() string { return p.log.String() }

// Run runs a command of the program to its end.
func (b Binary) Run(t testing.TB, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), string(b), args...)
	cmd.Env = cleanEnv(RuntimeDir(t))
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if _, exited := errors.AsType[*exec.ExitError](err); !exited {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
