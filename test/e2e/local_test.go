package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// home is a machine of a user of its own: no server runs, none of its folders exists.
// What is started there in the background ends with the test.
type home struct {
	t   testing.TB
	env []string
}

func newHome(t testing.TB, env ...string) *home {
	t.Helper()
	h := &home{t: t}
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "MEMORYD_") && !strings.HasPrefix(pair, "OPENAI_") && !strings.HasPrefix(pair, "XDG_") && !strings.HasPrefix(pair, "HOME=") {
			h.env = append(h.env, pair)
		}
	}
	h.env = append(h.env, "HOME="+t.TempDir(), "XDG_RUNTIME_DIR="+daemon.RuntimeDir(t))
	h.env = append(h.env, env...)
	t.Cleanup(func() {
		for _, pid := range h.background() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return h
}

func (h *home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(string(binary), args...)
	cmd.Env = h.env
	cmd.Stderr = os.Stderr
	return cmd
}

// run runs a command to its end.
func (h *home) run(args ...string) (out string, err error) {
	h.t.Helper()
	cmd := h.command(args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	text, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(text), err
}

type localServer struct {
	PID        int    `json:"pid"`
	URL        string `json:"url"`
	Socket     string `json:"socket"`
	Store      string `json:"store"`
	Background bool   `json:"background"`
}

func (h *home) servers() (all []localServer, used int) {
	h.t.Helper()
	text, err := h.run("status", "--json")
	var status struct {
		Servers []localServer `json:"servers"`
		Used    int           `json:"used"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &status)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	return status.Servers, status.Used
}

func (h *home) background() (pids []int) {
	all, _ := h.servers()
	for _, s := range all {
		if s.Background {
			pids = append(pids, s.PID)
		}
	}
	return pids
}

// session is a program that speaks MCP over stdio.
type session struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	ids int
}

func (h *home) session(args ...string) (*session, error) {
	s := &session{cmd: h.command(args...)}
	s.cmd.Env = append(s.cmd.Env, "MEMORYD_TEST_BOOKING=1")
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	h.t.Cleanup(func() { s.in.Close(); _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() })
	_, err = s.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	if err == nil {
		_, err = io.WriteString(s.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
	}
	return s, err
}

func (s *session) ask(method, params string) (string, error) {
	s.ids++
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", s.ids, method, params); err != nil {
		return "", err
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil || strings.Contains(line, fmt.Sprintf(`"id":%d`, s.ids)) {
			return line, err
		}
	}
}

// record records a call of a tool over MCP, guidelines asks for what is known of it.
func (s *session) record(tool string, n int) error {
	answer, err := s.ask("tools/call", fmt.Sprintf(`{"name":"memoryd_record","arguments":{"tool_name":%q,"input":{"n":%d},"output":"ok","tool_call_id":"%s-%d"}}`, tool, n, tool, n))
	if err == nil && (!strings.Contains(answer, `recorded`) || strings.Contains(answer, `"isError":true`)) {
		err = fmt.Errorf("not recorded: %s", answer)
	}
	return err
}

func (s *session) knows(tool string) (bool, error) {
	answer, err := s.ask("tools/call", fmt.Sprintf(`{"name":"memoryd_guidelines","arguments":{"tool_names":[%q]}}`, tool))
	return strings.Contains(answer, "resource_link"), err
}

// Without a server a second memoryd mcp ended with "data directory in use", and a
// wrapper did not start what it wraps (defect W4).
func TestTenProgramsThatStartAtOnceOnAFreshMachineShareOneMemory(t *testing.T) {
	h := newHome(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	asking, wrapped := make([]*session, 5), make([]*session, 5)
	for i := range 5 {
		all.Go(func() {
			var err error
			if asking[i], err = h.session("mcp"); err == nil {
				err = asking[i].record(fmt.Sprintf("tool%d", i), 1)
			}
			if err != nil {
				t.Errorf("mcp %d: %v", i, err)
			}
		})
		all.Go(func() {
			var err error
			if wrapped[i], err = h.session("mcp-wrap", "--name", fmt.Sprintf("b%d", i), "--", program); err == nil {
				_, err = wrapped[i].ask("tools/call", `{"name":"book","arguments":{"date":"2026-05-05","room":"A"}}`)
			}
			if err != nil {
				t.Errorf("mcp-wrap %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	if got := h.background(); len(got) != 1 {
		t.Fatalf("servers in the background: %v", got)
	}
	began := time.Now()
	for _, reader := range asking {
		for i := range 5 {
			for _, tool := range []string{fmt.Sprintf("tool%d", i), fmt.Sprintf("mcp__b%d__book", i)} {
				for known := false; !known; {
					if known, err = reader.knows(tool); err != nil || time.Since(began) > patience {
						t.Fatalf("%s is not known: %v", tool, err)
					}
				}
			}
		}
	}
	t.Logf("all is known everywhere after %v", time.Since(began))

	// A kill of any of them loses nothing that was acknowledged.
	if err := asking[1].cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		if n == 10 {
			_ = syscall.Kill(h.background()[0], syscall.SIGKILL)
		}
		err := asking[0].record("after", n)
		for end := time.Now().Add(patience); err != nil && time.Now().Before(end); { // what was not acknowledged is sent again
			err = asking[0].record("after", n)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := h.run("calls", "after", "--json", "--limit", "100")
	if n := strings.Count(out, `"after-`); err != nil || n != 20 {
		t.Errorf("%d of 20 calls are there: %v", n, err)
	}
	if out, err := h.run("stop"); err != nil || len(h.background()) != 0 {
		t.Errorf("not stopped: %v, %s", err, out)
	}
}

func TestAServerThatTheUserRunsIsPreferred(t *testing.T) {
	h := newHome(t, "MEMORYD_HTTP_BACKGROUND_IDLE=1h")
	if _, err := h.run("add", "early", "--output", "ok"); err != nil {
		t.Fatal(err)
	}
	var runtimeDir string
	for _, pair := range h.env {
		if strings.HasPrefix(pair, "XDG_RUNTIME_DIR=") {
			runtimeDir = pair
		}
	}
	s := start(t, t.TempDir(), []string{runtimeDir})
	if _, err := h.run("add", "late", "--output", "ok"); err != nil {
		t.Fatal(err)
	}
	a := s.Post("/retrieve_tool_memory", map[string]any{"tool_names": "late,early"})
	if len(a.Metadata.MemoryList) != 1 || a.Metadata.MemoryList[0].WhenToUse != "late" {
		t.Errorf("the user's own server has %v", a.Metadata.MemoryList)
	}
	if !strings.Contains(s.Log(), "Agents on this machine use this server now") || len(h.background()) != 0 {
		t.Errorf("the one in the background still runs: %s", s.Log())
	}
	second := start(t, t.TempDir(), []string{runtimeDir})
	if all, used := h.servers(); len(all) != 2 || used == 0 {
		t.Errorf("servers %v, used %d", all, used)
	}
	if a := second.Post("/retrieve_tool_memory", map[string]any{"tool_names": "late"}); a.Success {
		t.Error("a second server took the place of the first")
	}
	s.Stop()
	if out, err := h.run("tools"); err != nil || !strings.Contains(out, "early") {
		t.Errorf("the memory in the background is not back: %v, %s", err, out)
	}
}

func TestAServerInTheBackgroundEndsWhenNobodyAsks(t *testing.T) {
	h := newHome(t, "MEMORYD_HTTP_BACKGROUND_IDLE=300ms")
	if _, err := h.run("add", "x", "--output", "ok"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); len(h.background()) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it still runs")
		}
	}
	if out, err := h.run("tools"); err != nil || !strings.Contains(out, "x") {
		t.Errorf("the next one does not know: %v, %s", err, out)
	}
}

func TestNoDaemonStartsNone(t *testing.T) {
	h := newHome(t)
	if _, err := h.run("tools", "--no-daemon"); err == nil || !strings.Contains(err.Error(), "no memoryd of yours is running") {
		t.Errorf("got %v", err)
	}
	if n := len(h.background()); n != 0 {
		t.Errorf("%d run", n)
	}
}

// The socket and its folder are for their user alone, and so is what stands beside the store.
func TestOnlyTheUserCanOpenTheSocketAndTheLog(t *testing.T) {
	h := newHome(t)
	if _, err := h.run("add", "x", "--output", "ok"); err != nil {
		t.Fatal(err)
	}
	all, _ := h.servers()
	for path, want := range map[string]os.FileMode{
		all[0].Socket: 0o600, filepath.Dir(all[0].Socket): 0o700,
		filepath.Join(strings.TrimPrefix(all[0].Store, "sqlite in "), "server.log"): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
}

// Journals that were made for others are never delivered by who comes later, hold no
// secret, are listed, and can be sent or thrown away.
func TestJournalsOfOtherDestinationsAreListedAndGoNowhereElse(t *testing.T) {
	h := newHome(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	leave := func(n int, flags ...string) {
		t.Helper()
		s, err := h.session(append(append([]string{"mcp-wrap", "--name", "b"}, flags...), "--", program)...)
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			if _, err := s.ask("tools/call", `{"name":"book","arguments":{"date":"2026-05-05","room":"`+secret+`"}}`); err != nil {
				t.Fatal(err)
			}
		}
		s.in.Close()
		if err := s.cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		leave(2, "--url", fmt.Sprintf("http://127.0.0.1:%d", i+1))
	}
	leave(2, "--no-daemon", "--workspace", "customer")
	leave(2, "--url", "http://127.0.0.1:1", "--key", "mrd_0123456789ab_secretsecret")
	journals := func() (all []struct {
		Path, To, Workspace, Key string
		Calls                    int
	},
	) {
		t.Helper()
		text, err := h.run("status", "--json")
		if err != nil {
			t.Fatal(err)
		}
		var status struct{ Journals json.RawMessage }
		if err := errors.Join(json.Unmarshal([]byte(text), &status), json.Unmarshal(status.Journals, &all)); err != nil {
			t.Fatal(err)
		}
		return all
	}
	before := journals()
	if len(before) != 5 {
		t.Fatalf("journals %+v", before)
	}
	ours := ""
	for _, j := range before {
		text, _ := os.ReadFile(j.Path)
		if j.Calls != 2 || strings.Contains(string(text), secret) || strings.Contains(string(text), "secretsecret") {
			t.Errorf("%+v: %s", j, text)
		}
		if j.To == "local" {
			ours = j.Path
		}
	}
	leave(1) // the memory of this machine, another workspace
	if after := journals(); len(after) != 5 {
		t.Errorf("left %+v", after)
	}
	if out, err := h.run("calls", "mcp__b__book", "--json", "--limit", "0"); err != nil || strings.Count(out, `"tool_name"`) != 1 {
		t.Errorf("recorded %v %s", err, out)
	}
	if out, err := h.run("journals", "send", ours); err != nil || !strings.Contains(out, "2 calls delivered") {
		t.Errorf("%s, %v", out, err)
	}
	leave(1, "--workspace", "customer")
	if out, err := h.run("calls", "mcp__b__book", "--workspace", "customer", "--json", "--limit", "0"); err != nil || strings.Count(out, `"tool_name"`) != 3 {
		t.Errorf("the customer's: %v, %s", err, out)
	}
	if _, err := h.run("journals", "drop", before[0].Path); err == nil {
		t.Error("dropped without --yes")
	}
	rest := journals()
	args := []string{"journals", "drop", "--yes"}
	for _, j := range rest {
		args = append(args, j.Path)
	}
	if _, err := h.run(args...); err != nil || len(journals()) != 0 {
		t.Errorf("left %+v, %v", journals(), err)
	}
}

// MEMORYD_TEST_STARTS is how many times; the states of memoryd take turns.
func TestTheWrappedServerStartsEachTime(t *testing.T) {
	starts := 25
	if n, err := strconv.Atoi(os.Getenv("MEMORYD_TEST_STARTS")); err == nil {
		starts = n
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	h := newHome(t, "MEMORYD_HTTP_BACKGROUND_IDLE=50ms")
	broken := newHome(t)
	broken.env = append(broken.env, "HOME="+file, "XDG_RUNTIME_DIR="+file)
	states := []func() (*session, error){
		func() (*session, error) { return h.session("mcp-wrap", "--name", "b", "--", program) },
		func() (*session, error) { return broken.session("mcp-wrap", "--name", "b", "--", program) },
		func() (*session, error) {
			return h.session("mcp-wrap", "--data", filepath.Join(file, "x"), "--", program)
		},
		func() (*session, error) {
			return h.session("mcp-wrap", "--url", "http://"+silent.Addr().String(), "--", program)
		},
		func() (*session, error) {
			return h.session("mcp-wrap", "--no-daemon", "--journal", filepath.Join(file, "x"), "--", program)
		},
	}
	for i := range starts {
		s, err := states[i%len(states)]()
		if err == nil {
			var answer string
			if answer, err = s.ask("tools/call", `{"name":"book","arguments":{"date":"2026-05-05","room":"A"}}`); !strings.Contains(answer, "Booked A") {
				t.Fatalf("start %d: %v, %q", i, err, answer)
			}
		}
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// Learn, the commands and export without a store of their own work through the one local
// server (issue 36): there is no second store to look for.
func TestLearnAndExportWorkThroughTheLocalServer(t *testing.T) {
	h := newHome(t, "XDG_CACHE_HOME="+t.TempDir())
	dir, err := filepath.Abs("../../integrations/transcripts/testdata/openhands")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if out, err := h.run("learn", dir, "--no-daemon"); err == nil {
		t.Errorf("without a server: %s", out)
	}
	s, err := h.session("mcp") // a server that holds the store
	if err != nil {
		t.Fatal(err)
	}
	if err := s.record("book", 1); err != nil {
		t.Fatal(err)
	}
	if out, err := h.run("learn", dir); err != nil || !strings.Contains(out, "Recorded by your local server") {
		t.Fatalf("%v: %s", err, out)
	}
	if known, err := s.knows("str_replace_editor"); !known {
		t.Errorf("what was learned is not known over MCP: %v", err)
	}
	copied, err := h.run("export", "-")
	if err != nil || !strings.Contains(copied, `str_replace_editor`) || !strings.Contains(copied, `book-1`) {
		t.Errorf("%v: the copy has %d bytes", err, len(copied))
	}
	if _, err := h.run("check"); err == nil || !strings.Contains(err.Error(), "that of your local server is in") {
		t.Errorf("check: %v", err)
	}
	if left, _ := os.ReadDir("."); len(left) > 0 || len(h.background()) != 1 {
		t.Errorf("beside the one server there are %v and %v", h.background(), left)
	}
}
