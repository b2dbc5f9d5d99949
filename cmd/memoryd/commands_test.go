package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"memoryd/config"
)

// serveOnTheSide runs a server on a store of its own.
func serveOnTheSide(t *testing.T) (url string, stop func()) {
	t.Helper()
	a := testApp(t, config.BackendSQLite, t.TempDir(), "")
	a.Start(t.Context())
	return a.Addr().String(), func() { // without a scheme, as people write it
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	}
}

func TestTheCommandsThatPeopleExpect(t *testing.T) {
	oneByOne(t)
	url, stop := serveOnTheSide(t)
	defer stop()
	does := func(want string, args ...string) string {
		t.Helper()
		code, out, err := printed(t, append(args, "--url", url)...)
		if code != 0 || err != "" || !strings.Contains(out, want) {
			t.Errorf("%q: exit code %d, want %q, got\n%s%s", args, code, want, out, err)
		}
		return out
	}
	fails := func(want string, args ...string) {
		t.Helper()
		code, out, err := printed(t, append(args, "--url", url)...)
		if code != exitFailed || out != "" || !strings.Contains(err, want) || strings.Count(err, "\n") != 1 {
			t.Errorf("%q: exit code %d, want %q, got\n%s%s", args, code, want, out, err)
		}
	}
	fails("nothing is recorded there yet", "show", "größe")
	does("[1.0] ", "add", "größe messen", "--input", `{"q":1}`, "--output", "12 results were found")
	does("[0.0] ", "add", "größe messen", "--input", "text", "--output", "Error: no such unit", "--failed", "--time", "1.5", "--tokens", "7")
	does("default\n", "workspaces")
	does(`{"workspace_id":"default"}`, "workspaces", "--json")
	does("größe messen  2      0.50   50 %", "tools")
	does(`"tool_name":"größe messen"`, "tools", "--json", "messen")
	does("Retrieved 1 tool memory(ies)", "retrieve", "größe messen")
	does(`"when_to_use":"größe messen"`, "retrieve", "größe messen", "--json")
	does(`"risk":`, "preflight", "größe messen", `{"q":1}`, "--json")
	does("", "preflight", "größe messen", `{"q":1}`)
	does("2 kept of 2 ever", "show", "größe messen")
	does(`"total_calls":2`, "show", "größe messen", "--json")
	failed := does("Error: no such unit", "calls", "größe messen", "--failed")
	if strings.Contains(failed, "12 results") {
		t.Errorf("--failed shows a success:\n%s", failed)
	}
	var call struct{ ID string }
	if err := json.Unmarshal([]byte(does("", "calls", "größe messen", "--limit", "1", "--json")), &call); err != nil {
		t.Fatal(err)
	}
	does("[1.0]", "correct", "größe messen", call.ID, "1", "--why", "That was meant.")
	fails("404", "correct", "größe messen", strings.Repeat("0", 32), "1")
	fails(`did you mean "größe messen"?`, "show", "größe mesen")
	fails(`did you mean "größe messen"?`, "calls", "grösse messen")
	fails(`did you mean "größe messen"?`, "retrieve", "größe messn")
	fails(`did you mean "größe messen"?`, "summarize", "größe messn")
	fails(`did you mean "größe messen"?`, "delete", "größe messn", "--yes")
	fails("permanently deletes 1 tool with 2 calls", "delete", "größe messen")
	does("2 kept of 2 ever", "show", "größe messen")
	does("Deleted 1 tool with 2 calls.", "delete", "größe messen", "--yes")
	fails("nothing is recorded there yet", "delete", "größe messen", "--yes")
}

func TestWithoutAServerEveryCommandSaysSoOnce(t *testing.T) {
	for _, args := range []string{
		"workspaces", "tools", "show t", "calls t", "retrieve t", "preflight t x", "summarize --all", "delete t", "add t --input i --output o",
		"correct t " + strings.Repeat("0", 32) + " 1", "health",
	} {
		code, out, err := printed(t, append(strings.Fields(args), "--url", "127.0.0.1:1")...)
		if code != exitFailed || out != "" || strings.Count(err, "\n") != 1 || !strings.Contains(err, "no answer from http://127.0.0.1:1") {
			t.Errorf("%s: exit code %d, %s%s", args, code, out, err)
		}
	}
}

func TestOnlyATerminalGetsColours(t *testing.T) {
	if got := (streams{}).paint(red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
	if got := (streams{colour: true}).paint(red, "x"); got != "\x1b[31mx\x1b[0m" {
		t.Errorf("got %q", got)
	}
}

// U4, U11: one bad line ended an import, a file of another format was rejected line
// by line, and rejects stood among the results.
func TestAnImportSaysWhatItCouldNotTake(t *testing.T) {
	url, stop := serveOnTheSide(t)
	defer stop()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "f.jsonl")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for name, c := range map[string]struct{ text, out, err string }{
		"no name in the whole batch": {
			strings.Repeat(`{"output":"x"}`+"\n", 3), `: 0 added, 0 duplicate, 3 rejected\n`, `(?s)f.jsonl:1: rejected: tool_name is required.*:2: .*:3: `,
		},
		"no name in one line": {
			`{"output":"x"}` + "\n" + `{"tool_name":"t","output":"fine"}`, `: 1 added, 0 duplicate, 1 rejected\n`, `f.jsonl:1: rejected: .*tool_name`,
		},
		"a binary":       {"\x7fELF\x02\x01\x00\x00\n\n\n{}\n", ``, `^memoryd: \S+: not a text file.*\n$`},
		"pretty-printed": {"[\n  {\n    \"tool_name\": \"t\"\n  }\n]\n", ``, `^memoryd: \S+: a JSON array: .*jq -c '\.\[\]'.*\n$`},
		"an object":      {"{\n  \"tool_name\": \"t\"\n}\n", ``, `^memoryd: \S+: a JSON object over several lines: .*\n$`},
		"other names":    {`{"tool_name":"t","arguments":{"q":1},"result":"fine","mood":1}`, `: 1 added`, `unknown fields were dropped: "mood" of 1 lines`},
	} {
		code, out, err := printed(t, "import", file(c.text), "--url", url)
		if wantCode := map[bool]int{true: 0, false: 1}[name == "other names"]; code != wantCode || !regexp.MustCompile(c.out).MatchString(out) || !regexp.MustCompile(c.err).MatchString(err) {
			t.Errorf("%s: exit code %d\n%s\n%s", name, code, out, err)
		}
	}
}

// U2: an export from a wrong folder made a store there; the copy of a store in use
// comes from the server that uses it.
func TestExport(t *testing.T) {
	oneByOne(t)
	t.Setenv("MEMORYD_LOG_LEVEL", "error")
	nowhere := filepath.Join(t.TempDir(), "nowhere")
	to := filepath.Join(t.TempDir(), "x.jsonl.gz")
	if code, _, err := printed(t, "export", to, "--data", nowhere); code != exitFailed || !strings.Contains(err, "there is no store in "+nowhere) {
		t.Errorf("exit code %d: %s", code, err)
	}
	for _, name := range []string{nowhere, to} {
		if _, err := os.Stat(name); !os.IsNotExist(err) {
			t.Errorf("%s was made: %v", name, err)
		}
	}
	dir := t.TempDir()
	a := testApp(t, config.BackendSQLite, dir, "")
	a.Start(t.Context())
	url := a.Addr().String()
	if code, _, err := printed(t, "add", "t", "--input", "i", "--output", "o", "--url", url); code != 0 {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"--data", dir}, {"--url", url}, {"--url", url, "--workspace", "default"}} {
		if code, _, err := printed(t, append([]string{"export", to}, args...)...); code != 0 || !strings.Contains(err, "exported the data of unix:") && !strings.Contains(err, "exported the data of "+url) {
			t.Errorf("%q: exit code %d: %s", args, code, err)
		}
		if code, _, err := printed(t, "restore", to, "--data", t.TempDir()); code != 0 || !strings.Contains(err, "restored 1 tool") {
			t.Errorf("%q: exit code %d: %s", args, code, err)
		}
	}
	if code, _, err := printed(t, "export", "-", "--url", url, "--workspace", "none"); code != exitFailed || !strings.Contains(err, "404") {
		t.Errorf("exit code %d: %s", code, err)
	}
	if err := a.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	http.DefaultClient.CloseIdleConnections()
	if code, _, err := printed(t, "export", to, "--data", dir); code != 0 || !strings.Contains(err, "exported 1 tool") {
		t.Errorf("exit code %d: %s", code, err)
	}
}

// What is printed never steers a terminal, whoever wrote it: tools, callers, files.
func TestNothingForeignSteersTheTerminal(t *testing.T) {
	oneByOne(t)
	url, stop := serveOnTheSide(t)
	defer stop()
	const steering = "\x1b]0;owned\x07\x1b[2J\u202etxt.exe\u200b\u2066"
	body, err := json.Marshal(map[string]any{"tool_name": "t", "tool_call_results": []any{
		map[string]any{"input": map[string]any{"q" + steering: steering}, "output": "Error: " + steering + " no such unit", "success": false, "metadata": map[string]any{"trajectory_id": steering}},
		map[string]any{"input": steering, "output": steering + " 12 results"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+url+"/add_tool_call_result", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	file := filepath.Join(t.TempDir(), "calls"+steering+".jsonl")
	if err := os.WriteFile(file, []byte(`{"tool_name":"`+"\u202e"+`","input":"`+"\x1b"+`[2J"}`+"\n{\"tool_name\": 7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"summarize", "t"},
		{"show", "t"},
		{"calls", "t"},
		{"calls", "t", "--failed"},
		{"tools"},
		{"tools", steering},
		{"retrieve", "t"},
		{"preflight", "t", steering},
		{"show", steering},
		{"import", file},
		{"add", steering},
		{"delete", steering},
		{"learn", file},
		{"compact", file},
		{"export", file + "/x"},
		{"restore", file},
		{steering},
	} {
		_, out, errs := printed(t, append(args, "--url", url)...)
		for _, r := range out + errs {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Errorf("%q prints %U:\n%q", args, r, out+errs)
				break
			}
		}
	}
}
