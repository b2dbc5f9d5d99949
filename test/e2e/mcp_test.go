package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)

// playBooking is an MCP server with a flaw that its description does not tell: it
// wants dates in one form.
func playBooking(in io.Reader, out io.Writer) {
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments struct {
					Date string `json:"date"`
					Room string `json:"room"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue
		}
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","serverInfo":{"name":"booking"},"capabilities":{"tools":{}}}`
		case "tools/list":
			result = `{"tools":[{"name":"book","description":"Books a room.","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			a := m.Params.Arguments
			text := "Booked " + a.Room + " for " + a.Date
			good := isoDate.MatchString(a.Date)
			if !good {
				text = "Error: invalid date format, `date` must be in format YYYY-MM-DD"
			}
			quoted, _ := json.Marshal(text)
			result = fmt.Sprintf(`{"content":[{"type":"text","text":%s}],"isError":%t}`, quoted, !good)
		}
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
}

// book is a scripted agent: one run of it calls the wrapped server for each date.
// It gives the tool's description as the agent saw it, and the text of each result.
func book(t *testing.T, url string, flags []string, dates ...string) (description string, results []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"mcp-wrap", "--url", url, "--name", "booking", "--journal", t.TempDir()}, flags...)
	cmd := exec.Command(string(binary), append(args, "--", program)...)
	cmd.Env = append(os.Environ(), "MEMORYD_TEST_BOOKING=1")
	cmd.Stderr = os.Stderr
	in, _ := cmd.StdinPipe()
	stdout, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	ask := func(method, params string, answer any) {
		fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`+"\n", method, params)
		line, err := out.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, answer)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var answer struct {
		Result struct {
			Tools   []struct{ Description string }
			Content []struct{ Text string }
		}
	}
	ask("initialize", `{"clientInfo":{"name":"scripted"}}`, &answer)
	ask("tools/list", `{}`, &answer)
	description = answer.Result.Tools[0].Description
	for i, date := range dates {
		answer.Result.Content = nil
		ask("tools/call", fmt.Sprintf(`{"name":"book","arguments":{"date":%q,"room":"A%d"}}`, date, i), &answer)
		var texts []string
		for _, c := range answer.Result.Content {
			texts = append(texts, c.Text)
		}
		results = append(results, strings.Join(texts, "\n"))
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return description, results
}

func TestAnAgentReadsTheFormOnceTwoRunsBearItOut(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	description, _ := book(t, s.URL, nil, "5 May 2026", "2026-05-05", "6 May 2026", "2026-05-06")
	if description != "Books a room." {
		t.Errorf("without enrichment the description is %q", description)
	}
	_, results := book(t, s.URL, []string{"--warn"}, "7 May 2026", "2026-05-07")
	if strings.Contains(results[0], "memoryd") {
		t.Errorf("two failures of one run are no rule: %q", results[0])
	}
	_, results = book(t, s.URL, []string{"--warn"}, "8 May 2026", "2026-05-08")
	if results[1] != "Booked A1 for 2026-05-08" {
		t.Errorf("a good call got %q", results[1])
	}
	if code, out, errs := memoryd(t, "", "summarize", "mcp__booking__book", "--url", s.URL); code != 0 {
		t.Fatal(out, errs)
	}
	description, _ = book(t, s.URL, []string{"--enrich", "description"}, "2026-05-09")
	if !strings.Contains(description, "Write `date` like YYYY-MM-DD: otherwise 4 of 4 went wrong (3 runs).") {
		t.Errorf("the description is %q", description)
	}
}

// A journal that was kept for one memoryd was delivered to the next one (defect W1).
func TestAJournalGoesOnlyWhereItWasMadeFor(t *testing.T) {
	journal := t.TempDir()
	kept := func() (n int) {
		files, err := filepath.Glob(filepath.Join(journal, "*.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%s: %v, %v", file, info.Mode(), err)
			}
			text, _ := os.ReadFile(file)
			n += strings.Count(string(text), `"tool_name"`)
			if strings.Contains(string(text), "AKIAIOSFODNN7EXAMPLE") {
				t.Errorf("a secret stands in %s", file)
			}
		}
		return n
	}
	book(t, "http://127.0.0.1:1", []string{"--journal", journal}, "2026-05-05", "AKIAIOSFODNN7EXAMPLE")
	if n := kept(); n != 2 {
		t.Fatalf("%d calls are kept", n)
	}
	s := start(t, t.TempDir(), nil)
	book(t, s.URL, []string{"--journal", journal}, "2026-05-06")
	book(t, s.URL, []string{"--journal", journal, "--workspace", "other"}, "2026-05-07")
	for workspace, want := range map[string]float64{"default": 1, "other": 1} {
		a := s.Post("/retrieve_tool_memory", map[string]any{"workspace_id": workspace, "tool_names": "mcp__booking__book"})
		if got := a.Metadata.MemoryList[0].Metadata.Statistics["lifetime_calls"]; got != want {
			t.Errorf("%s has %v calls", workspace, got)
		}
	}
	if n := kept(); n != 2 {
		t.Errorf("%d calls are kept for the first one", n)
	}
}

// A locked data folder kept the wrapped server from starting (defect W4).
func TestTheWrappedServerStartsWhateverTheStateOfMemoryd(t *testing.T) {
	locked := t.TempDir()
	start(t, locked, nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, flags := range map[string][]string{
		"a locked folder": {"--data", locked}, "no folder": {"--data", filepath.Join(file, "x")}, "no server": nil, "no place for a journal": {"--journal", filepath.Join(file, "x")},
	} {
		if _, results := book(t, "http://127.0.0.1:1", flags, "2026-05-05"); results[0] != "Booked A0 for 2026-05-05" {
			t.Errorf("%s: %q", name, results)
		}
	}
}

// TestWhatACompactionTookOutIsLookedUpOverMCP as the line of the summary says.
func TestWhatACompactionTookOutIsLookedUpOverMCP(t *testing.T) {
	s := start(t, t.TempDir(), nil)
	ask := func(tool string, arguments map[string]any) string {
		body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/mcp", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var messages []map[string]any
	for i := range 40 {
		messages = append(messages, map[string]any{"role": "user", "content": fmt.Sprintf("Remark %d: %s.", i, strings.Repeat("word ", 40))},
			map[string]any{"role": "assistant", "content": fmt.Sprintf("Voucher V-%d-%d is for %d.", i, i*7919, i)})
	}
	messages = append(messages, map[string]any{"role": "user", "content": "Go on."})
	body, _ := json.Marshal(map[string]any{"messages": messages, "max_input_tokens": 450, "force": true, "conversation_id": "c 1"})
	reply, err := s.Send("/compact_conversation", body)
	if err != nil {
		t.Fatal(err)
	}
	said := string(reply.Body)
	if !strings.Contains(said, "memoryd_lookup") || strings.Contains(said, "V-3-23757") {
		t.Fatalf("the summary names no way back, or left nothing out: %.900s", said)
	}
	found := ask("memoryd_lookup", map[string]any{"conversation_id": "c 1", "query": "voucher V-3-23757", "kind": "assistant", "limit": 1})
	id := regexp.MustCompile(`o_[0-9a-f]{24}`).FindString(found)
	if !strings.Contains(found, "V-3-23757") || id == "" {
		t.Fatalf("not found: %s", found)
	}
	if whole := ask("memoryd_lookup", map[string]any{"id": id}); !strings.Contains(whole, "Voucher V-3-23757 is for 3.") {
		t.Errorf("its text: %s", whole)
	}
	if refused := ask("memoryd_lookup", map[string]any{"query": "voucher"}); !strings.Contains(refused, `"isError":true`) || !strings.Contains(refused, "conversation_id") {
		t.Errorf("without a conversation: %s", refused)
	}
}
