package hosts

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"memoryd/test/crash/daemon"
)

// overheard passes requests on to a model, and keeps them.
func overheard(t *testing.T, model *httptest.Server) (address string, requests func() []string) {
	t.Helper()
	var mu sync.Mutex
	var all []string
	target, err := url.Parse(model.URL)
	if err != nil {
		t.Fatal(err)
	}
	pass := httputil.NewSingleHostReverseProxy(target)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		all = append(all, string(body))
		mu.Unlock()
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), all...)
	}
}

// teach records calls of a tool that failed for want of a parameter, and ones that gave it;
// each run has two of them. The project is where they were made, "" is unknown.
func teach(t *testing.T, s *daemon.Process, tool, wrong, right, project string) {
	t.Helper()
	var items []any
	for i := range 16 {
		input, output := map[string]any{right: fmt.Sprintf("/p/file%d.go", i)}, "1 package main"
		if i%2 == 1 {
			input, output = map[string]any{wrong: fmt.Sprintf("/p/file%d.go", i)}, "Error: InputValidationError: the required parameter `"+right+"` is missing"
		}
		items = append(items, map[string]any{
			"tool_name": tool, "input": input, "output": output, "success": i%2 == 0,
			"metadata": map[string]any{"trajectory_id": fmt.Sprintf("%s-run-%d", tool, i/2), "project": project},
		})
	}
	s.Post("/add_tool_call_result", map[string]any{"tool_call_results": items})
}

// toldFirst holds that a line stands in a request before the first call that it would have
// helped, that the model is told once, and nothing of another project's tool.
func toldFirst(t *testing.T, requests []string, line, call string) {
	t.Helper()
	for _, r := range requests {
		if strings.Contains(r, "of_elsewhere") {
			t.Errorf("it is told of a tool of another project: %.3000s", r)
		}
		if !strings.Contains(r, line) {
			continue
		}
		if strings.Contains(r, call) {
			t.Errorf("the line stands in no request before the call: %.3000s", r)
		}
		if n := strings.Count(r, line); n != 1 {
			t.Errorf("it is told %d times: %s", n, r)
		}
		return
	}
	t.Errorf("no request of %d has %q", len(requests), line)
}

const (
	wrongCall = "never-there.txt"
	taskName  = "Read the file of the task"
)

// learned is a server that knows of a mistake with a tool, and of one of another project.
func learned(t *testing.T, tool, wrong, right, project string) *daemon.Process {
	t.Helper()
	s := binary.Start(t, t.TempDir(), nil)
	teach(t, s, tool, wrong, right, project)
	teach(t, s, "of_elsewhere", wrong, right, "/another/project")
	return s
}

func TestClaudeCodeIsToldBeforeTheFirstMistake(t *testing.T) {
	t.Parallel()
	program := claude(t)
	work, home := t.TempDir(), t.TempDir()
	s := learned(t, "Read", "path", "file_path", work)
	write(t, filepath.Join(work, "here.txt"), "what stands here\n")
	model, requests := overheard(t, messages(t, tasks{taskName: {{"Read", `{"file_path":"` + filepath.Join(work, "here.txt") + `"}`}, {"Read", `{"path":"` + wrongCall + `"}`}}}))
	install(t, home, "claude-code", s.URL)
	run(t, work, []string{"HOME=" + home, "ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=x", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}, program,
		"-p", taskName, "--model", "claude-sonnet-4-5")
	toldFirst(t, requests(), "`Read`: Give `file_path`, not `path`", wrongCall)
}

func TestCodexIsToldBeforeTheFirstMistake(t *testing.T) {
	t.Parallel()
	program := host(t, "codex")
	work, home := t.TempDir(), t.TempDir()
	s := learned(t, "exec_command", "command", "cmd", work)
	model, requests := overheard(t, responses(t, tasks{taskName: {{"exec_command", `{"cmd":"echo first"}`}, {"exec_command", `{"command":"cat ` + wrongCall + `"}`}}}))
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
`, model+"/v1"))
	install(t, home, "codex", s.URL)
	run(t, work, []string{"HOME=" + home, "CODEX_HOME=" + filepath.Join(home, ".codex"), "SCRIPTED_KEY=x"}, program,
		"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", taskName)
	toldFirst(t, requests(), "`exec_command`: Give `cmd`, not `command`", wrongCall)
}

func TestGeminiIsToldBeforeTheFirstMistake(t *testing.T) {
	t.Parallel()
	program := host(t, "gemini")
	work, home := t.TempDir(), t.TempDir()
	s := learned(t, "read_file", "path", "file_path", work)
	write(t, filepath.Join(work, "here.txt"), "what stands here\n")
	model, requests := overheard(t, gemini(t, tasks{taskName: {{"read_file", `{"file_path":"here.txt"}`}, {"read_file", `{"path":"` + wrongCall + `"}`}}}))
	settings, _ := json.Marshal(map[string]any{
		"security": map[string]any{"auth": map[string]any{"selectedType": "gemini-api-key"}, "folderTrust": map[string]any{"enabled": false}},
		"general":  map[string]any{"enableAutoUpdate": false, "disableAutoUpdate": true},
	})
	write(t, filepath.Join(home, ".gemini", "settings.json"), string(settings))
	install(t, home, "gemini", s.URL)
	run(t, work, []string{"HOME=" + home, "GEMINI_CLI_HOME=" + home, "GEMINI_API_KEY=x", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_TRUST_WORKSPACE=true"}, program,
		"-m", "gemini-2.5-flash", "--yolo", "-p", taskName)
	toldFirst(t, requests(), "`read_file`: Give `file_path`, not `path`", wrongCall)
}

// claude gives the path of the installed Claude Code, which is a program of each system.
func claude(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("MEMORYD_TEST_HOSTS")
	if dir == "" {
		t.Skip("MEMORYD_TEST_HOSTS names no folder with real hosts; clients/check hosts installs them")
	}
	found, _ := filepath.Glob(filepath.Join(dir, "node_modules", "@anthropic-ai", "claude-code-"+runtime.GOOS+"-*", "claude"))
	if len(found) == 0 {
		t.Skip("Claude Code is not installed")
	}
	return found[0]
}

func opencode(t *testing.T) string {
	t.Helper()
	found, _ := filepath.Glob(filepath.Join(os.Getenv("MEMORYD_TEST_HOSTS"), "node_modules", "opencode-"+runtime.GOOS+"-*", "bin", "opencode"))
	if len(found) == 0 {
		t.Skip("opencode is not installed")
	}
	return found[0]
}

// messages plays Anthropic's Messages API: one call a turn, then a last word.
func messages(t *testing.T, script tasks) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.HasSuffix(r.URL.Path, "/messages") {
			_, _ = io.WriteString(w, `{"input_tokens":1}`)
			return
		}
		done := bytes.Count(body, []byte(`"type":"tool_result"`))
		steps := script.of(body)
		if !bytes.Contains(body, []byte(`"name":"Read"`)) { // a side question without tools
			steps = nil
		}
		block, delta, stop := `{"type":"text","text":""}`, `{"type":"text_delta","text":"done"}`, "end_turn"
		if done < len(steps) {
			quoted, _ := json.Marshal(steps[done].args)
			block = fmt.Sprintf(`{"type":"tool_use","id":"toolu_01AbCdEfGhIjKlMn%06d","name":%q,"input":{}}`, done, steps[done].tool)
			delta, stop = fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quoted), "tool_use"
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []struct{ name, data string }{
			{"message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}`},
			{"content_block_start", `{"type":"content_block_start","index":0,"content_block":` + block + `}`},
			{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":` + delta + `}`},
			{"content_block_stop", `{"type":"content_block_stop","index":0}`},
			{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"` + stop + `","stop_sequence":null},"usage":{"output_tokens":1}}`},
			{"message_stop", `{"type":"message_stop"}`},
		} {
			fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, e.data)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Each host that is at hand reads the configuration that install wrote, and gives the file
// back when it is uninstalled.
func TestHostsLoadWhatInstallWrote(t *testing.T) {
	t.Parallel()
	s := binary.Start(t, t.TempDir(), nil)
	for client, tc := range map[string]struct {
		file, text, env string
		program         func(*testing.T) string
	}{
		"claude-code": {".claude.json", `{"numStartups": 1, "mcpServers": {"other": {"command": "true"}}}`, "X=", claude},
		"codex":       {".codex/config.toml", "model = \"o\" # mine\nproject_doc_max_bytes = 30000\n", "CODEX_HOME=%s/.codex", func(t *testing.T) string { return host(t, "codex") }},
		"opencode":    {".config/opencode/opencode.json", "{\n  // mine\n  \"theme\": \"x\",\n}\n", "XDG_CONFIG_HOME=%s/.config", opencode},
		"gemini":      {".gemini/settings.json", "{\n  // mine\n  \"ui\": {\"hideTips\": true}\n}\n", "GEMINI_CLI_HOME=%s", func(t *testing.T) string { return host(t, "gemini") }},
	} {
		t.Run(client, func(t *testing.T) {
			program, home := tc.program(t), t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(tc.file))
			write(t, path, tc.text)
			do := func(args ...string) {
				t.Helper()
				cmd := exec.Command(string(binary), args...)
				cmd.Env = append(os.Environ(), "HOME="+home)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			do("mcp", "install", "--client", client, "--url", s.URL, "--yes")
			cmd := exec.CommandContext(t.Context(), program, "mcp", "list")
			cmd.Dir = t.TempDir()
			cmd.Env = append(os.Environ(), "HOME="+home, strings.ReplaceAll(tc.env, "%s", home))
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "memoryd") || !strings.Contains(string(out), filepath.Base(string(binary))) {
				t.Errorf("%v: %s", err, out)
			}
			do("mcp", "uninstall", "--client", client, "--yes")
			after, err := os.ReadFile(path)
			writes := client == "claude-code" || client == "opencode" // into its file, too
			if err != nil || writes && bytes.Contains(after, []byte("memoryd")) || !writes && string(after) != tc.text {
				t.Errorf("%v: %s", err, after)
			}
		})
	}
}
