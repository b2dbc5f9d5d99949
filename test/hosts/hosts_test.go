// Package hosts runs agents' real hosts, offline, with a model that plays a script:
// Codex CLI and Gemini CLI call tools that work and tools that fail, tell memoryd of it
// by all ways at once, and each call must be there once, with its true success.
//
// The hosts are npm packages; MEMORYD_TEST_HOSTS is the folder that they are installed
// in ("clients/check hosts" does that). Without it the tests are skipped.
package hosts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"memoryd/test/crash/daemon"
)

// binary is the program under test, built once.
var binary daemon.Binary

func TestMain(m *testing.M) {
	if os.Getenv("MEMORYD_TEST_ROOMS") != "" {
		playRooms(os.Stdin, os.Stdout)
		return
	}
	os.Exit(daemon.Main(m, &binary))
}

// host gives the path of an installed host's program.
func host(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("MEMORYD_TEST_HOSTS")
	if dir == "" {
		t.Skip("MEMORYD_TEST_HOSTS names no folder with real hosts; clients/check hosts installs them")
	}
	path := filepath.Join(dir, "node_modules", ".bin", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed: %v", name, err)
	}
	return path
}

// playRooms is an MCP server whose tool fails for rooms that do not exist.
func playRooms(in io.Reader, out io.Writer) {
	dec := json.NewDecoder(in)
	for {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Room string `json:"room"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if dec.Decode(&m) != nil {
			return
		}
		if len(m.ID) == 0 {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-06-18","serverInfo":{"name":"rooms","version":"1"},"capabilities":{"tools":{}}}`
		case "tools/list":
			result = `{"tools":[{"name":"book","description":"Books a room.","inputSchema":{"type":"object","properties":{"room":{"type":"string"}},"required":["room"]}}]}`
		case "tools/call":
			room := m.Params.Arguments.Room
			text, failed := "Booked "+room, false
			if !strings.HasPrefix(room, "A") {
				text, failed = "Error: there is no room "+room, true
			}
			quoted, _ := json.Marshal(text)
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":%t}`, quoted, failed)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// step is a tool call that the scripted model makes.
type step struct {
	tool string // as the host declares it
	args string // JSON
}

// tasks are the prompts and what the model does about each.
type tasks map[string][]step

// of finds the task of a request by its prompt.
func (s tasks) of(body []byte) []step {
	for prompt, steps := range s {
		if bytes.Contains(body, []byte(prompt)) {
			return steps
		}
	}
	return nil
}

// want is a call that must be recorded, once.
type want struct {
	tool, input, output string // parts of them
	success             bool
	sources             []string // who told of it, at least
}

// stored is a recorded call as the server shows it.
type stored struct {
	Tool     string
	Input    json.RawMessage `json:"input"`
	Output   string          `json:"output"`
	Success  bool            `json:"success"`
	Score    float64         `json:"score"`
	Time     float64         `json:"time_cost"`
	Created  string          `json:"create_time"`
	Metadata struct {
		Sources []string `json:"sources"`
		Session string   `json:"session_id"`
		Ref     string   `json:"call_ref"`
		Exit    *int     `json:"exit_code"`
	} `json:"metadata"`
}

// calls reads all that a server has recorded.
func calls(t *testing.T, s *daemon.Process) (all []stored) {
	t.Helper()
	read := func(path string, into any) {
		if err := json.Unmarshal(s.Get(path).Body, into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var tools struct {
		Tools []struct {
			Name string `json:"tool_name"`
		} `json:"tools"`
	}
	read("/v1/workspaces/default/tools", &tools)
	for _, tool := range tools.Tools {
		var page struct {
			Calls []stored `json:"calls"`
		}
		read("/v1/workspaces/default/tools/"+tool.Name+"/calls", &page)
		for _, c := range page.Calls {
			c.Tool = tool.Name
			all = append(all, c)
		}
	}
	return all
}

func (w want) is(c *stored) bool {
	return strings.Contains(c.Tool, w.tool) && strings.Contains(string(c.Input), w.input) && strings.Contains(c.Output, w.output) && c.Success == w.success &&
		!slices.ContainsFunc(w.sources, func(source string) bool { return !slices.Contains(c.Metadata.Sources, source) })
}

// compare waits until each wanted call is recorded once, as hosts send some accounts
// late, and holds that there is no other call.
func compare(t *testing.T, s *daemon.Process, wants []want) {
	t.Helper()
	var why string
	var all []stored
	for until := time.Now().Add(2 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		all, why = calls(t, s), ""
		for _, w := range wants {
			n := 0
			for i := range all {
				if w.is(&all[i]) {
					n++
				}
			}
			if n != 1 {
				why += fmt.Sprintf("%d calls are %+v\n", n, w)
			}
		}
		if len(all) != len(wants) {
			why += fmt.Sprintf("%d calls, want %d\n", len(all), len(wants))
		}
		if why == "" {
			return
		}
	}
	for _, c := range all {
		why += fmt.Sprintf("%s %s %s\n  -> %q success %v, score %v, %v s, %+v\n", c.Created, c.Tool, c.Input, c.Output, c.Success, c.Score, c.Time, c.Metadata)
	}
	t.Error(why)
}

// run lets a host do its tasks.
func run(t *testing.T, dir string, env []string, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return regexp.MustCompile(`(?i)^(OPENAI_|GEMINI_|GOOGLE_|CODEX_|OTEL_|MEMORYD_URL|CI$|.*_proxy$)`).MatchString(name)
	}), env...)
	cmd.WaitDelay = 2 * time.Second
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", filepath.Base(program), err, out)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// rooms are the words that start the MCP server of the tests behind memoryd's wrapper.
func rooms(t *testing.T, s *daemon.Process) (command string, args []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return string(binary), []string{"mcp-wrap", "--url", s.URL, "--name", "rooms", "--journal", t.TempDir(), "--", program}
}

func install(t *testing.T, home, name, url string) {
	t.Helper()
	cmd := exec.Command(string(binary), "hook", "install", name, "--yes", "--url", url)
	cmd.Env = append(os.Environ(), "HOME="+home)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// responses plays OpenAI's Responses API: one call a turn, then a last word.
func responses(t *testing.T, script tasks) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.HasSuffix(r.URL.Path, "/responses") {
			http.NotFound(w, r)
			return
		}
		var req struct {
			Input []struct {
				Type string `json:"type"`
			} `json:"input"`
		}
		_ = json.Unmarshal(body, &req)
		done := 0
		for _, item := range req.Input {
			if strings.HasSuffix(item.Type, "_call_output") {
				done++
			}
		}
		item := `{"type":"message","role":"assistant","id":"msg_1","content":[{"type":"output_text","text":"done"}]}`
		if steps := script.of(body); done < len(steps) {
			s := steps[done]
			name, namespace := s.tool, ""
			if server, tool, ok := strings.Cut(s.tool, "/"); ok {
				name, namespace = tool, `"namespace":"`+server+`",`
			}
			quoted, _ := json.Marshal(s.args)
			id := fmt.Sprintf("call_%d_%x", done, time.Now().UnixNano())
			item = fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,%s"name":%q,"arguments":%s}`, id, id, namespace, name, quoted)
			if name == "apply_patch" {
				item = fmt.Sprintf(`{"type":"custom_tool_call","id":"fc_%s","call_id":%q,"name":%q,"input":%s,"status":"completed"}`, id, id, name, quoted)
			}
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"response.created","response":{"id":"resp_1"}}`,
			`{"type":"response.output_item.added","output_index":0,"item":` + item + `}`,
			`{"type":"response.output_item.done","output_index":0,"item":` + item + `}`,
			`{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}}`,
		} {
			var e struct{ Type string }
			_ = json.Unmarshal([]byte(event), &e)
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.Type, event)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestCodexTellsOfEachCallOnce(t *testing.T) {
	t.Parallel()
	codex := host(t, "codex")
	work, home := t.TempDir(), t.TempDir()
	s := binary.Start(t, t.TempDir(), nil)
	model := responses(t, tasks{
		"Task one":   {{"exec_command", `{"cmd":"echo first"}`}, {"exec_command", `{"cmd":"cat /nowhere/at-all; exit 3"}`}, {"exec_command", `{"command":7}`}},
		"Task two":   {{"apply_patch", "*** Begin Patch\n*** Add File: new.txt\n+hello\n*** End Patch\n"}, {"exec_command", `{"cmd":"wc -l no-such-file"}`}},
		"Task three": {{"mcp__rooms/book", `{"room":"A1"}`}, {"mcp__rooms/book", `{"room":"Z9"}`}, {"mcp__rooms/book", `{"room":"A2"}`}},
	})
	command, args := rooms(t, s)
	quoted, _ := json.Marshal(args)
	write(t, filepath.Join(home, ".codex", "config.toml"), fmt.Sprintf(`
model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = %q
wire_api = "responses"
env_key = "SCRIPTED_KEY"
[otel]
log_user_prompt = false
exporter = { otlp-http = { endpoint = "%s/v1/logs", protocol = "json" } }
[mcp_servers.rooms]
command = %q
args = %s
env = { MEMORYD_TEST_ROOMS = "1" }
`, model.URL+"/v1", s.URL, command, quoted))
	install(t, home, "codex", s.URL)
	for _, prompt := range []string{"Task one", "Task two", "Task three"} {
		run(t, work, []string{"HOME=" + home, "CODEX_HOME=" + filepath.Join(home, ".codex"), "SCRIPTED_KEY=x"}, codex,
			"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt)
	}
	everyWay := []string{"codex", "hook:codex", "otlp:codex"}
	compare(t, s, []want{
		{tool: "exec_command", input: "echo first", output: "first", success: true, sources: everyWay},
		{tool: "exec_command", input: "exit 3", output: "No such file", success: false, sources: everyWay},
		{tool: "exec_command", input: `"command":7`, output: "failed to parse", success: false, sources: []string{"codex", "otlp:codex"}},
		// apply_patch, which this host did not offer ("unsupported custom tool call"), is no tool: its call is refused.
		{tool: "exec_command", input: "wc -l", output: "no-such-file", success: false, sources: everyWay},
		{tool: "mcp__rooms__book", input: "A1", output: "Booked A1", success: true, sources: append(everyWay, "mcp-wrap")},
		{tool: "mcp__rooms__book", input: "Z9", output: "no room Z9", success: false, sources: []string{"codex", "otlp:codex", "mcp-wrap"}},
		{tool: "mcp__rooms__book", input: "A2", output: "Booked A2", success: true, sources: append(everyWay, "mcp-wrap")},
	})
}

// gemini plays the Gemini API.
func gemini(t *testing.T, script tasks) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var req struct {
			Contents []struct {
				Parts []struct {
					Response json.RawMessage `json:"functionResponse"`
				} `json:"parts"`
			} `json:"contents"`
		}
		_ = json.Unmarshal(body, &req)
		done := 0
		for _, c := range req.Contents {
			for _, p := range c.Parts {
				if len(p.Response) > 0 {
					done++
				}
			}
		}
		part := `{"text":"done"}`
		if steps := script.of(body); done < len(steps) && strings.Contains(string(body), "functionDeclarations") {
			part = fmt.Sprintf(`{"functionCall":{"name":%q,"args":%s}}`, steps[done].tool, steps[done].args)
		}
		answer := `{"candidates":[{"content":{"role":"model","parts":[` + part + `]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1,"totalTokenCount":2}}`
		switch {
		case strings.Contains(r.URL.Path, "streamGenerateContent"):
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", answer)
		case strings.Contains(r.URL.Path, "countTokens"):
			fmt.Fprint(w, `{"totalTokens":1}`)
		default:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, answer)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestGeminiTellsOfEachCallOnce(t *testing.T) {
	t.Parallel()
	program := host(t, "gemini")
	work, home := t.TempDir(), t.TempDir()
	s := binary.Start(t, t.TempDir(), nil)
	write(t, filepath.Join(work, "here.txt"), "what stands here\n")
	model := gemini(t, tasks{
		"Three tasks": { // in one session, as the host takes long to start
			{"run_shell_command", `{"command":"echo first"}`},
			{"run_shell_command", `{"command":"cat /nowhere/at-all; exit 3"}`},
			{"run_shell_command", `{"order":7}`},
			{"read_file", `{"file_path":"here.txt"}`},
			{"read_file", `{"file_path":"not-here.txt"}`},
			{"mcp_rooms_book", `{"room":"A1"}`},
			{"mcp_rooms_book", `{"room":"Z9"}`},
			{"mcp_rooms_book", `{"room":"A2"}`},
		},
	})
	command, args := rooms(t, s)
	settings, _ := json.Marshal(map[string]any{
		"mcpServers": map[string]any{"rooms": map[string]any{"command": command, "args": args, "env": map[string]string{"MEMORYD_TEST_ROOMS": "1"}, "trust": true}},
		"telemetry":  map[string]any{"enabled": true, "target": "local", "otlpProtocol": "http", "otlpEndpoint": s.URL, "traces": true},
		"security":   map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
		"general":    map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true},
	})
	write(t, filepath.Join(home, ".gemini", "settings.json"), string(settings))
	install(t, home, "gemini", s.URL)
	run(t, work, []string{"HOME=" + home, "GEMINI_CLI_HOME=" + home, "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + model.URL, "GEMINI_CLI_TRUST_WORKSPACE=true"}, program,
		"-m", "gemini-2.5-flash", "--yolo", "-p", "Three tasks")
	everyWay := []string{"gemini", "otlp:gemini"}
	compare(t, s, []want{
		{tool: "run_shell_command", input: "echo first", output: "first", success: true, sources: everyWay},
		{tool: "run_shell_command", input: "exit 3", output: "No such file", success: false, sources: everyWay},
		{tool: "run_shell_command", input: `"order":7`, output: "", success: false, sources: everyWay},
		{tool: "read_file", input: `"here.txt`, output: "what stands here", success: true, sources: everyWay},
		{tool: "read_file", input: "not-here.txt", output: "not found", success: false, sources: everyWay},
		{tool: "_book", input: "A1", output: "Booked A1", success: true, sources: append(everyWay, "mcp-wrap")},
		{tool: "_book", input: "Z9", output: "no room Z9", success: false, sources: append(everyWay, "mcp-wrap")},
		{tool: "_book", input: "A2", output: "Booked A2", success: true, sources: append(everyWay, "mcp-wrap")},
	})
}
