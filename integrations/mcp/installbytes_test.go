package mcp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"memoryd/integrations/mcp"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// jsonFile draws a file of a host: an object with members before and after key, which is
// there or not, in the layouts and with the comments that people write.
func jsonFile(t *rapid.T, key string, inner []string, more ...string) string {
	space := rapid.SampledFrom([]string{"", "\n", "\n  ", "\n\t", " ", "\r\n    "}).Draw(t, "space")
	comment := rapid.SampledFrom([]string{"", "", " // mine, {\"}\n", " /* , ] */ "}).Draw(t, "comment")
	parts := rapid.SliceOfNDistinct(rapid.SampledFrom(append(more,
		`"n": 1.50`, `"big": 9007199254740993`, `"e":1e3`, `"theme" : "dark"`, `"text": "{ \" // [ }"`, `"list": [1, 2 , {"a": null}]`, `"deep": {"mcpServers": {"x": {}}, "hooks": {"y": []}}`, `"memoryd": true`,
	)), 0, 5, rapid.ID[string]).Draw(t, "members")
	if rapid.Bool().Draw(t, "there") {
		var held []string
		if len(inner) > 0 {
			held = rapid.SliceOfNDistinct(rapid.SampledFrom(inner), 0, len(inner), rapid.ID[string]).Draw(t, "held")
		}
		last := ""
		if len(held) > 0 && rapid.Bool().Draw(t, "trailing comma inside") {
			last = ","
		}
		at := rapid.IntRange(0, len(parts)).Draw(t, "at")
		parts = slices.Insert(parts, at, `"`+key+`":`+space+`{`+space+strings.Join(held, ","+comment+space)+last+space+`}`)
	}
	end := ""
	if len(parts) > 0 && rapid.Bool().Draw(t, "trailing comma") {
		end = ","
	}
	return comment + "{" + space + strings.Join(parts, ","+comment+space) + end + space + "}" + rapid.SampledFrom([]string{"", "\n", "\r\n"}).Draw(t, "end")
}

// carry writes a change.
func carry(t *rapid.T, text []byte, c mcp.Change, err error) []byte {
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if err := os.WriteFile(c.Path, c.After, 0o600); err != nil {
		t.Fatal(err)
	}
	return c.After
}

// within holds that a text only has bytes more than another, in the order of that.
func within(t *rapid.T, text, longer []byte) {
	rest := longer
	for _, b := range text {
		i := bytes.IndexByte(rest, b)
		if i < 0 {
			t.Fatalf("bytes of\n%q\nare gone from\n%q", text, longer)
		}
		rest = rest[i+1:]
	}
}

// W2: whatever stands in a client's file, install adds memoryd's entry and uninstall gives
// the bytes back that were there.
func TestAClientsFileIsGivenBackToTheByte(t *testing.T) {
	keys := map[string]string{"vscode": "servers", "opencode": "mcp", "zed": "context_servers", "amp": "amp.mcpServers"}
	for _, client := range mcp.HostNames() {
		if client == "codex" || client == "goose" { // TOML and YAML have their own
			continue
		}
		t.Run(client, func(t *testing.T) {
			home := t.TempDir()
			key := keys[client]
			if key == "" {
				key = "mcpServers"
			}
			plan, err := mcp.Install(client, home, "", server)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(plan.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				text := []byte(jsonFile(t, key, []string{`"time": {"command": "uvx", "args": ["x"]}`, `"b": { "url": "http://x", }`, `"c":{}`}))
				if err := os.WriteFile(plan.Path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				c, err := mcp.Install(client, home, "", server)
				installed := carry(t, text, c, err)
				within(t, text, installed)
				if n := bytes.Count(installed, []byte("/bin/memoryd")); n != 1 {
					t.Fatalf("%d entries in %s", n, installed)
				}
				c, err = mcp.Install(client, home, "", server)
				if again := carry(t, installed, c, err); !bytes.Equal(again, installed) {
					t.Fatalf("installed twice:\n%s", again)
				}
				c, err = mcp.Uninstall(client, home, "")
				if got := carry(t, installed, c, err); !bytes.Equal(got, text) {
					t.Fatalf("got\n%q\nwas\n%q\ninstalled\n%s", got, text, installed)
				}
			})
		})
	}
}

func TestAHostsHooksAreGivenBackToTheByte(t *testing.T) {
	for _, host := range mcp.HookHosts() {
		t.Run(host, func(t *testing.T) {
			home := t.TempDir()
			plan, err := mcp.InstallHooks(host, home, "/bin/memoryd", nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(plan.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			rapid.Check(t, func(t *rapid.T) {
				lists := []string{`[]`, `[ ]`, `[{"command": "theirs.sh"}]`, "[\n    { \"command\": \"a\" }, // one\n    {\"command\": \"b\"}\n  ]", "[\n]"}
				var inner []string
				for _, event := range []string{"PreToolUse", "SessionStart", "BeforeTool", "postToolUse", "Other"} {
					inner = append(inner, `"`+event+`": `+rapid.SampledFrom(lists).Draw(t, event))
				}
				text := []byte(jsonFile(t, "hooks", inner, `"version": 1 `))
				if err := os.WriteFile(plan.Path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				c, err := mcp.InstallHooks(host, home, "/bin/memoryd", nil)
				installed := carry(t, text, c, err)
				within(t, text, installed)
				c, err = mcp.InstallHooks(host, home, "/bin/memoryd", nil)
				if again := carry(t, installed, c, err); !bytes.Equal(again, installed) {
					t.Fatalf("installed twice:\n%s\nonce:\n%s", again, installed)
				}
				if bytes.Count(installed, []byte("/bin/memoryd hook "+host)) < 3 {
					t.Fatalf("%s", installed)
				}
				c, err = mcp.UninstallHooks(host, home)
				if got := carry(t, installed, c, err); !bytes.Equal(got, text) {
					t.Fatalf("got\n%q\nwas\n%q\ninstalled\n%s", got, text, installed)
				}
			})
		})
	}
}

func TestAFileOfGooseIsGivenBackToTheByte(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "goose", "config.yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{
			"GOOSE_MODEL: gpt-5 # mine\n", "# a comment\n", "big: 9007199254740993\nfloat: 30.0\n", "text: |\n  extensions:\n    memoryd: no\n", "list:\n- a\n-   b\n",
			"extensions:\n  developer:\n    enabled: true # so\n    type: builtin\n", "extensions:\n    deep:\n        cmd: x\n",
		}), 0, 5, func(s string) string { return strings.Split(s, ":")[0] }).Draw(t, "parts")
		text := []byte(strings.Join(parts, rapid.SampledFrom([]string{"", "\n"}).Draw(t, "between")))
		if rapid.Bool().Draw(t, "CRLF") {
			text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := mcp.Install("goose", home, "", server)
		if err != nil && strings.Contains(err.Error(), "add to it") {
			return // said with the lines to paste
		}
		installed := carry(t, text, c, err)
		var file struct {
			Extensions map[string]struct {
				Cmd  string
				Args []string
			}
		}
		if err := yaml.Unmarshal(installed, &file); err != nil || file.Extensions["memoryd"].Cmd != "/bin/memoryd" || file.Extensions["memoryd"].Args[0] != "mcp" {
			t.Fatalf("%v: %s", err, installed)
		}
		c, err = mcp.Install("goose", home, "", server)
		if again := carry(t, installed, c, err); !bytes.Equal(again, installed) {
			t.Fatalf("installed twice:\n%s", again)
		}
		c, err = mcp.Uninstall("goose", home, "")
		if got := carry(t, installed, c, err); !bytes.Equal(got, text) {
			t.Fatalf("got\n%q\nwas\n%q\ninstalled\n%s", got, text, installed)
		}
	})
}
