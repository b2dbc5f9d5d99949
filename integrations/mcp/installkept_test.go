package mcp_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"memoryd/integrations/mcp"

	"github.com/pelletier/go-toml/v2"
	"pgregory.net/rapid"
)

// codexShapes are what stands around servers in files of Codex, in the forms that TOML has.
var codexShapes = []string{
	"# a comment\nmodel = \"o\" # of mine\n",
	"startup = 30000\nhex = 0xFF\nbig = 9007199254740993\nfloat = 30.0\nminus = -1e3\n",
	"at = 2026-11-23T20:05:24Z\nday = 2026-11-23\nclock = 07:32:00.5\n",
	"text = \"\"\"\n[mcp_servers.no]\ncommand = \"x\"\\\n  \"\"\"\n",
	"raw = '''\n[mcp_servers.memoryd]\n# '' no comment'''\n",
	"a.b.c = 1\n\"quoted key\".'d e' = true\n",
	"point = { x = 1, y = { z = [1, 2] } }\n",
	"many = [\n  1, # one\n  [2, 3], # ]\n  \"]\",\n]\n",
}

var codexTables = []string{
	"[other]\nx = 1 # kept\n",
	"[[profiles]]\nname = 'a'\n\n[[profiles]]\nname = 'b'\n",
	"  [indented.table]  # so\n  y = 2\n",
	"[mcp_servers.docs]\nurl = \"http://127.0.0.1:1/mcp\"\nstartup_timeout_ms = 30000\n",
	"[ mcp_servers . \"a.b\" ]\ncommand = 'z'\n",
	"[projects.\"/home/me\"]\ntrust_level = \"trusted\"\n",
}

var codexServers = []string{
	"[mcp_servers.time]\ncommand = 'uvx'\nargs = ['mcp-server-time']\n",
	"[mcp_servers.time] # the clock\n# how it starts\ncommand = \"uvx\" # mine\nstartup_timeout_ms = 30000\nargs = [\n  \"mcp-server-time\", # the server\n  '--x',\n]\ntool_timeout_sec = 60.5\n\n[mcp_servers.time.env]\nA = 'b'\n",
	"[mcp_servers.\"time\"]\nenv = { A = \"b\" }\nargs = []\n\ncommand = '''uvx'''\n",
	"[mcp_servers.time]\nurl = \"http://127.0.0.1:2/mcp\"\nsince = 2026-11-23\n",
	"[mcp_servers.time]\ncommand = \"only\"\n",
}

func codexFile(t *rapid.T) string {
	tables := rapid.SliceOfNDistinct(rapid.SampledFrom(codexTables), 0, 4, rapid.ID[string]).Draw(t, "tables")
	tables = append(tables, rapid.SampledFrom(codexServers).Draw(t, "server"))
	parts := rapid.SliceOfNDistinct(rapid.SampledFrom(codexShapes), 0, 5, rapid.ID[string]).Draw(t, "shapes")
	parts = append(parts, rapid.Permutation(tables).Draw(t, "order")...)
	text := strings.Join(parts, rapid.SampledFrom([]string{"", "\n", "\n# between\n\n"}).Draw(t, "between"))
	if rapid.Bool().Draw(t, "no last line end") {
		text = strings.TrimRight(text, "\n")
	}
	if rapid.Bool().Draw(t, "CRLF") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// serversOf gives the entries of a file, and the file without the one named.
func serversOf(t *rapid.T, text []byte, but string) (entries, rest map[string]any) {
	if err := toml.Unmarshal(text, &rest); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	entries, _ = rest["mcp_servers"].(map[string]any)
	entries = maps.Clone(entries)
	if all, ok := rest["mcp_servers"].(map[string]any); ok {
		delete(all, but)
	}
	return entries, rest
}

func TestFilesOfCodexAreKeptToTheByteOutsideTheEntry(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(codexFile(t))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		carryOut := func(c mcp.Change, err error) []byte {
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if err := os.WriteFile(path, c.After, 0o600); err != nil {
				t.Fatal(err)
			}
			return c.After
		}
		installed := carryOut(mcp.Install("codex", home, "", server))
		if !bytes.HasPrefix(installed, text) {
			t.Fatalf("bytes of the file were changed:\n%s", installed)
		}
		entries, rest := serversOf(t, installed, "memoryd")
		if _, was := serversOf(t, text, "memoryd"); !reflect.DeepEqual(rest, was) || entries["memoryd"] == nil {
			t.Fatalf("read otherwise:\n%s", installed)
		}
		wrapped := carryOut(mcp.Install("codex", home, "time", wrapperOf("time")))
		for line := range bytes.Lines(text) {
			if !bytes.Contains(wrapped, bytes.TrimRight(line, "\r\n")) {
				t.Fatalf("%q is gone from\n%s", line, wrapped)
			}
		}
		before, was := serversOf(t, installed, "time")
		after, now := serversOf(t, wrapped, "time")
		entry, old := after["time"].(map[string]any), before["time"].(map[string]any)
		if !reflect.DeepEqual(was, now) || entry["command"] != "/bin/memoryd" || !slices.Contains(entry["args"].([]any), any("mcp-wrap")) {
			t.Fatalf("wrapped as\n%s", wrapped)
		}
		for name, value := range old {
			if !slices.Contains([]string{"command", "args", "url"}, name) && !reflect.DeepEqual(entry[name], value) {
				t.Fatalf("%s became %v in\n%s", name, entry[name], wrapped)
			}
		}
		if got := carryOut(mcp.Uninstall("codex", home, "time")); !bytes.Equal(got, installed) {
			t.Fatalf("unwrapped:\n%q\nwas:\n%q", got, installed)
		}
		if got := carryOut(mcp.Uninstall("codex", home, "")); !bytes.Equal(got, text) {
			t.Fatalf("uninstalled:\n%q\nwas:\n%q", got, text)
		}
	})
}

func TestAnEntryOfCodexInAnotherFormIsRefusedWithTheLinesToPaste(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".codex", "config.toml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"mcp_servers = { time = { command = 'uvx', args = ['x'] } }\n",
		"[mcp_servers]\ntime = { command = 'uvx', args = ['x'] }\n",
		"mcp_servers.time.command = 'uvx'\nmcp_servers.time.args = ['x']\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := mcp.Install("codex", home, "time", wrapperOf("time"))
		if want := "args = ['mcp-wrap', '--name', 'time', '--', 'uvx', 'x']"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFilesOfJSONAreKeptToTheByteOutsideTheEntry(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{
		`{"b":1.50,"mcpServers":{"time":{"command":"uvx"}},"a":[1, 2]}`,
		"{\n\t\"mcpServers\": {\n\t\t\"time\": {\"command\": \"uvx\"}\n\t},\n\t\"n\": 1e3\n}\n",
		"{\r\n  \"mcpServers\": { }\r\n}",
		"{}", "{ \"theme\": \"dark\" }\n",
		"{\n  // mine \" {\n  \"mcpServers\": {\n    \"time\": {\"command\": \"uvx\"}, /* , } */\n  },\n  \"url\": \"http://x\", // last\n}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		change, err := mcp.Install("gemini", home, "", server)
		if err != nil {
			t.Fatalf("%d: %v", i, err)
		}
		if entry := `"memoryd": {"command":"/bin/memoryd","args":["mcp"]}`; !strings.Contains(string(change.After), entry) {
			t.Errorf("%d: %s", i, change.After)
		}
		if _, err := change.Write(); err != nil {
			t.Fatal(err)
		}
		at := 0 // where the first byte differs: all that follows in the file must follow there too
		for at < len(text) && change.After[at] == text[at] {
			at++
		}
		if !strings.HasSuffix(string(change.After), text[at:]) {
			t.Errorf("%d: bytes of the file were changed: %s", i, change.After)
		}
		back, err := mcp.Uninstall("gemini", home, "")
		if err != nil || string(back.After) != text {
			t.Errorf("%d: %v, got %q, want %q", i, err, back.After, text)
		}
		if strings.Contains(text, "time") {
			wrapped, err := mcp.Install("gemini", home, "time", wrapperOf("time"))
			want := `"time": {"command":"/bin/memoryd","args":["mcp-wrap","--name","time","--was","{\"command\":\"uvx\"}","--","uvx"]}`
			if plain := strings.NewReplacer(" ", "", "\n", "", "\t", ""); err != nil || !strings.Contains(plain.Replace(string(wrapped.After)), plain.Replace(want)) {
				t.Errorf("%d: %v, %s", i, err, wrapped.After)
			}
		}
	}
}

// An entry that was wrapped is given back to the byte: its order, blanks and comments, and a
// list without words.
func TestAWrappedEntryIsGivenBackToTheByte(t *testing.T) {
	for client, file := range map[string]struct {
		name, key string
		entries   []string
	}{
		"cursor": {".cursor/mcp.json", "mcpServers", []string{
			`{"command": "uvx"}`, `{"command":"uvx","args":[]}`, `{ "args" : [ ] , "command" : "uvx" }`, `{"env": {"A": "b"}, "args": ["mcp-server-time", "--x"], "command": "uvx"}`,
			"{\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"time\"\n      ],\n      \"env\": { \"N\": \"1.50\" }\n    }",
			"{\n      \"command\": \"npx\", // mine\n      \"args\": [ /* ] */ \"-y\", \"a, b\", ],\n      \"disabled\": false,\n    }", "{\n\t\t\t\"command\": \"uvx\"\n\t\t}",
			`{ "url" : "http://127.0.0.1:9/sse", }`, "{\n      \"type\": \"sse\", // old\n      \"url\": \"http://127.0.0.1:9/sse\"\n    }",
		}},
		"gemini": {".gemini/settings.json", "mcpServers", []string{`{"httpUrl": "http://127.0.0.1:9/mcp"}`, "{\n      \"httpUrl\":\"http://127.0.0.1:9/mcp\"\n    }"}},
		"opencode": {".config/opencode/opencode.json", "mcp", []string{
			`{"type": "local", "command": ["uvx", "time"], "enabled": true}`, `{ "type": "remote","url": "http://127.0.0.1:9/mcp" }`, "{\n      \"command\": [\n        \"uvx\"\n      ], // mine\n      \"type\": \"local\"\n    }",
		}},
	} {
		for _, entry := range file.entries {
			home := t.TempDir()
			path := filepath.Join(home, filepath.FromSlash(file.name))
			text := "{\n  \"" + file.key + "\": {\n    \"time\": " + entry + ",\n    \"other\": {\"command\": [\"x\"]}\n  }\n}\n"
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			wrapped, err := mcp.Install(client, home, "time", wrapperOf("time"))
			if err != nil || !strings.Contains(string(wrapped.After), "mcp-wrap") {
				t.Fatalf("%v: %s", err, wrapped.After)
			}
			if _, err := wrapped.Write(); err != nil {
				t.Fatal(err)
			}
			if back, err := mcp.Uninstall(client, home, "time"); err != nil || string(back.After) != text {
				t.Errorf("%v: of\n%s\nwrapped\n%s\ncame\n%s", err, text, wrapped.After, back.After)
			}
		}
	}
}

// A wrapped server with an address keeps what says how it listens, whatever else its entry holds.
func TestAWrappedAddressStaysOfItsKind(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".gemini", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"mcpServers": {"time": {"timeout": 5000, "httpUrl": "http://127.0.0.1:9/mcp"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wrapped, err := mcp.Install("gemini", home, "time", wrapperOf("time"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := wrapped.Write(); err != nil {
		t.Fatal(err)
	}
	back, err := mcp.Uninstall("gemini", home, "time")
	if err != nil || !strings.Contains(string(back.After), `"httpUrl"`) || !strings.Contains(string(back.After), `"timeout": 5000`) || strings.Contains(string(back.After), `"url"`) {
		t.Errorf("%v: %s", err, back.After)
	}
}

// What a person changes of a wrapped entry stays when it is unwrapped, and no value that stays in
// it is among the wrapper's words, which every user can see.
func TestAChangeOfAWrappedEntryOutlastsTheWrapper(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".cursor", "mcp.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	file := func(entry string) []byte {
		return []byte("{\n  \"mcpServers\": {\n    \"time\": " + entry + "\n  }\n}\n")
	}
	if err := os.WriteFile(path, file(`{"env": {"KEY": "secret"}, "old": 1, "command": "uvx"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	wrapped, err := mcp.Install("cursor", home, "time", wrapperOf("time"))
	if err != nil || bytes.Count(wrapped.After, []byte("secret")) != 1 {
		t.Fatalf("%v: %s", err, wrapped.After)
	}
	edited := strings.NewReplacer(`"secret"`, `"other"`, `, "old": 1`, `, "new": 2`).Replace(string(wrapped.After))
	for text, want := range map[string]string{
		edited: `{"env": {"KEY": "other"}, "command": "uvx", "new": 2}`,
		string(file(`{"command":"/bin/memoryd","args":["mcp-wrap","--name","time","--","uvx", "x"],"env":{"A":"b"}}`)):    `{"command":"uvx","args":["x"],"env":{"A":"b"}}`, // as 0.1.0 wrote it
		string(file(`{"type":"stdio","command":"/bin/memoryd","args":["mcp-wrap","--","uvx"]}`)):                          `{"type":"stdio","command":"uvx","args":[]}`,
		string(file(`{"type":"stdio","command":"/bin/memoryd","args":["mcp-wrap","--remote","http://127.0.0.1:9/mcp"]}`)): "{\"type\": \"http\",\n    \"url\": \"http://127.0.0.1:9/mcp\"}",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if back, err := mcp.Uninstall("cursor", home, "time"); err != nil || string(back.After) != string(file(want)) {
			t.Errorf("%v: of\n%s\ncame\n%s", err, text, back.After)
		}
	}
}
