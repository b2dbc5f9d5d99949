package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"memoryd/integrations/mcp"
)

// Whatever else stands in a host's file stays, installing twice is installing once,
// and uninstalling gives back what was there.
func TestHooksAreInstalledBesideThoseOfOthersAndTakenBack(t *testing.T) {
	t.Parallel()
	for _, host := range mcp.HookHosts() {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			install := func() mcp.Change {
				t.Helper()
				c, err := mcp.InstallHooks(host, home, "/opt/my tools/memoryd", []string{"--workspace", "it's"})
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			plan := install() // where there is no file yet
			if plan.Before != nil || !json.Valid(plan.After) {
				t.Fatalf("%s", plan.After)
			}
			event := map[string]string{"gemini": "AfterTool", "cursor": "postToolUse"}[host]
			if event == "" {
				event = "PostToolUse"
			}
			before := map[string]any{"version": 1.0, "theme": "dark", "hooks": map[string]any{
				event: []any{map[string]any{"command": "theirs.sh memoryd-like"}}, "Other": []any{map[string]any{"command": "x"}},
			}}
			text, err := json.Marshal(before)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Dir(plan.Path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(plan.Path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				c := install()
				if _, err := c.Write(); err != nil {
					t.Fatal(err)
				}
			}
			got, err := os.ReadFile(plan.Path)
			if err != nil {
				t.Fatal(err)
			}
			command := `'/opt/my tools/memoryd' hook ` + host + ` --workspace 'it'\\''s'`
			if n := strings.Count(string(got), command); n < 3 || strings.Count(string(got), "theirs.sh") != 1 || !strings.Contains(string(got), `"dark"`) {
				t.Fatalf("%d times in %s", n, got)
			}
			undo, err := mcp.UninstallHooks(host, home)
			if err != nil {
				t.Fatal(err)
			}
			var after map[string]any
			if err := json.Unmarshal(undo.After, &after); err != nil || !reflect.DeepEqual(after, before) {
				t.Errorf("%v, %s", err, undo.After)
			}
			if _, err := undo.Write(); err != nil {
				t.Fatal(err)
			}
			if _, err := mcp.UninstallHooks(host, home); err == nil {
				t.Error("uninstalled twice")
			}
		})
	}
}

func TestAFileOfAHostThatIsNoPlainJSONIsLeft(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	path := filepath.Join(home, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"{ // mine\n", `{"hooks": []}`, `{"hooks": {"PreToolUse": {}}}`, "["} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.InstallHooks("claude-code", home, "/bin/memoryd", nil); err == nil || !strings.Contains(err.Error(), "settings.json") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
