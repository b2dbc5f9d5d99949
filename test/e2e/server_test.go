// Package e2e runs the real binary and speaks to it over HTTP, as a user's
// programs do.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
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

// binary is the path of the program under test, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "memoryd-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "memoryd")
	build := exec.Command("go", "build", "-o", binary, "memoryd/cmd/memoryd")
	build.Stderr = os.Stderr
	code := 1
	if err := build.Run(); err == nil {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// server is a running memoryd.
type server struct {
	t     *testing.T
	URL   string
	Ready string // the line that it prints when it is ready
	cmd   *exec.Cmd
	log   *syncBuffer
	done  chan struct{}
}

// syncBuffer collects a process's log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var address = regexp.MustCompile(`http://[0-9.:]+`)

// start runs the server on a free port with its data in dir. The variables are
// added to an environment that knows no model.
func start(t *testing.T, dir string, env []string, args ...string) *server {
	t.Helper()
	s := &server{t: t, log: &syncBuffer{}, done: make(chan struct{})}
	s.cmd = exec.Command(binary, append([]string{"serve", "--listen", "127.0.0.1:0", "--data", dir}, args...)...)
	s.cmd.Env = append(cleanEnv(), env...)
	s.cmd.Stderr = s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	s.Ready, err = lines.ReadString('\n')
	if err != nil {
		_ = s.cmd.Wait()
		t.Fatalf("no ready line: %v\n%s", err, s.log)
	}
	s.URL = address.FindString(s.Ready)
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		_ = s.cmd.Wait()
		close(s.done)
	}()
	t.Cleanup(s.kill)
	return s
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

// kill ends the process as a power cut ends it, and waits for its end.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// stop asks the process to end and returns its exit code.
func (s *server) stop() int {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	select {
	case <-s.done:
	case <-time.After(30 * time.Second):
		s.t.Fatalf("still running 30 s after SIGTERM\n%s", s.log)
	}
	return s.cmd.ProcessState.ExitCode()
}

// reply is what came back of a request.
type reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// memory is a tool memory as an existing client reads it.
type memory struct {
	MemoryID  string  `json:"memory_id"`
	WhenToUse string  `json:"when_to_use"`
	Content   string  `json:"content"`
	Score     float64 `json:"score"`
	Author    string  `json:"author"`
	Calls     []struct {
		ToolName   string          `json:"tool_name"`
		Input      json.RawMessage `json:"input"`
		Output     string          `json:"output"`
		Score      float64         `json:"score"`
		Summary    string          `json:"summary"`
		Evaluation string          `json:"evaluation"`
		CallHash   string          `json:"call_hash"`
		Summarised bool            `json:"is_summarized"`
		Metadata   map[string]any  `json:"metadata"`
	} `json:"tool_call_results"`
	Metadata struct {
		Statistics map[string]any `json:"statistics"`
	} `json:"metadata"`
}

// answer is a response of a tool-memory endpoint.
type answer struct {
	Answer   string `json:"answer"`
	Success  bool   `json:"success"`
	Metadata struct {
		MemoryList []memory `json:"memory_list"`
		Rejected   []struct {
			Index  int    `json:"index"`
			Reason string `json:"reason"`
		} `json:"rejected"`
		Deduplication struct {
			Added        int `json:"added"`
			Deduplicated int `json:"deduplicated"`
		} `json:"deduplication_stats"`
		Unknown []string `json:"unknown_tool_names"`
		Skipped int      `json:"skipped"`
		Failed  []struct {
			ToolName string `json:"tool_name"`
			Reason   string `json:"reason"`
		} `json:"failed"`
	} `json:"metadata"`
}

// send posts a body as it stands; an error means that no answer came.
func (s *server) send(path string, body []byte, header ...string) (reply, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	return do(req)
}

func do(req *http.Request) (reply, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, body}, err
}

// post sends v and reads the answer, which has to be HTTP 200.
func (s *server) post(path string, v any) answer {
	s.t.Helper()
	body, err := json.Marshal(v)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := s.send(path, body)
	if err != nil {
		s.t.Fatalf("%s: %v\n%s", path, err, s.log)
	}
	if r.Status != http.StatusOK {
		s.t.Fatalf("%s: HTTP %d: %s\n%s", path, r.Status, r.Body, s.log)
	}
	var a answer
	if err := json.Unmarshal(r.Body, &a); err != nil {
		s.t.Fatalf("%s: %v in %s", path, err, r.Body)
	}
	return a
}

func (s *server) get(path string) reply {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.URL+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := do(req)
	if err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return r
}

// memoryd runs another command of the binary and returns its exit code and
// what it printed.
func memoryd(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), binary, args...)
	cmd.Env = cleanEnv()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
