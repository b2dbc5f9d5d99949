package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"memoryd/integrations/mcp"
)

var server = mcp.Entry{Command: "/bin/memoryd", Args: []string{"mcp"}}

func wrapperOf(name string) mcp.Entry {
	return mcp.Entry{Command: "/bin/memoryd", Args: []string{"mcp-wrap", "--name", name}}
}

func TestInstallKeepsEverythingElseAndUninstallTakesItBack(t *testing.T) {
	for client, tc := range map[string]struct{ path, before, installed, wrapped string }{
		"cursor": {
			".cursor/mcp.json",
			`{"z": 1.50, "mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time", "--x"], "env": {"A": "b"}}}, "a": [1, 2]}`,
			`"memoryd":{"command":"/bin/memoryd","args":["mcp"]}`,
			`"time":{"command":"/bin/memoryd","args":["mcp-wrap","--name","time","--was","{\"command\": \"uvx\", \"args\": [\"mcp-server-time\", \"--x\"], \"env\": null}","--","uvx","mcp-server-time","--x"],"env":{"A":"b"}}`,
		},
		"vscode": {
			"", `{"servers": {"time": {"type": "http", "url": "http://127.0.0.1:1/mcp"}}}`,
			`"memoryd":{"type":"stdio","command":"/bin/memoryd","args":["mcp"]}`,
			`"time":{"type":"stdio","command":"/bin/memoryd","args":["mcp-wrap","--name","time","--was","{\"type\":\"http\",\"url\":\"http://127.0.0.1:1/mcp\"}","--remote","http://127.0.0.1:1/mcp"]}`,
		},
		"codex": {
			".codex/config.toml",
			"# mine\nmodel = \"o\"\n\n[mcp_servers.time]\ncommand = 'uvx'\nargs = ['mcp-server-time']\n\n[mcp_servers.time.env]\nA = 'b'\n\n[other]\nx = 1 # kept\n",
			"[mcp_servers.memoryd]\ncommand = '/bin/memoryd'\nargs = ['mcp']",
			"[mcp_servers.time]\ncommand = '/bin/memoryd'\nargs = ['mcp-wrap', '--name', 'time', '--', 'uvx', 'mcp-server-time']",
		},
	} {
		t.Run(client, func(t *testing.T) {
			home := t.TempDir()
			plan, err := mcp.Install(client, home, "", server) // where there is no file yet
			if err != nil || plan.Before != nil {
				t.Fatalf("%+v, %v", plan, err)
			}
			if backup, err := plan.Write(); err != nil || backup != "" {
				t.Fatal(backup, err)
			}
			path := plan.Path
			if err := os.WriteFile(path, []byte(tc.before), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, 0o640); err != nil {
				t.Fatal(err)
			}
			step := func(change mcp.Change, err error, want ...string) string {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
				if _, err := change.Write(); err != nil {
					t.Fatal(err)
				}
				text, _ := os.ReadFile(path)
				for _, w := range want {
					if !strings.Contains(plainOf(string(text)), plainOf(w)) {
						t.Errorf("%s lacks %s", text, w)
					}
				}
				return string(text)
			}
			change, err := mcp.Install(client, home, "", server)
			step(change, err, tc.installed)
			change, err = mcp.Install(client, home, "time", wrapperOf("time"))
			step(change, err, tc.installed, tc.wrapped)
			if _, err := mcp.Install(client, home, "time", wrapperOf("time")); err == nil || !strings.Contains(err.Error(), "already") {
				t.Errorf("wrapped twice: %v", err)
			}
			change, err = mcp.Uninstall(client, home, "time")
			step(change, err)
			change, err = mcp.Uninstall(client, home, "")
			if got := step(change, err); client == "codex" && got != tc.before || plainOf(got) != plainOf(tc.before) {
				t.Errorf("got %s, want %s", got, tc.before)
			}
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v", info.Mode())
			}
			if backups, _ := filepath.Glob(path + ".memoryd-*"); len(backups) != 1 {
				t.Errorf("backups %v", backups)
			}
		})
	}
}

// plainOf leaves out what formatting changes.
func plainOf(s string) string { return strings.NewReplacer(" ", "", "\n", "", "\t", "").Replace(s) }

func TestInstallLeavesAloneWhatItCannotRead(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"{\n  // mine\n":               "not JSON",
		`[1]`:                          "not a JSON object",
		`{"mcpServers": 5}`:            "mcpServers",
		`{"mcpServers": {"time": {}}}`: "neither a command nor a url",
		`{"mcpServers": {"other": {"command": "x"}}}`:           "known servers: other",
		`{"mcpServers": {"time": {"url": "u", "headers": {}}}}`: "headers",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.Install("cursor", home, "time", wrapperOf("time")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
