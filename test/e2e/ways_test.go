package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The blocks of docs/ways.md are run as they stand, but for the address.
func TestTheWaysOfUseWork(t *testing.T) {
	page := rootFile(t, "docs/ways.md")
	s := start(t, t.TempDir(), nil)
	programs := map[string][]string{
		"sh": {"bash", "-e"}, "python": {"python3"}, "ts": {"node", "--no-warnings", "--experimental-strip-types"},
	}
	blocks := regexp.MustCompile("(?s)```(\\w+)\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 4 {
		t.Fatalf("the page has %d blocks, want 4", len(blocks))
	}
	for _, block := range blocks {
		language, text := block[1], strings.ReplaceAll(block[2], "http://127.0.0.1:8002", s.URL)
		if language == "crontab" {
			continue
		}
		t.Run(language, func(t *testing.T) {
			program := programs[language]
			if _, err := exec.LookPath(program[0]); err != nil {
				t.Skip(program[0] + " is not here")
			}
			if language == "ts" && exec.Command("node", "--experimental-strip-types", "--version").Run() != nil {
				t.Skip("this Node runs no TypeScript")
			}
			name := filepath.Join(t.TempDir(), "way.m"+language)
			if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), program[0], append(program[1:], name)...).CombinedOutput()
			for _, want := range []string{"[New] web_search", "Tool: web_search", "## Core Function"} {
				if err != nil || !strings.Contains(string(out), want) {
					t.Fatalf("%v, want %q in\n%s", err, want, out)
				}
			}
		})
	}
	t.Run("cron", func(t *testing.T) {
		lines := regexp.MustCompile(`(?m)^[0-9 ]+\* \* \* memoryd (.+)$`).FindAllStringSubmatch(blocks[3][2], -1)
		if len(lines) != 2 {
			t.Fatalf("the page has %d lines for cron, want 2", len(lines))
		}
		backup := filepath.Join(t.TempDir(), "backup.jsonl.gz")
		for _, line := range lines {
			args := strings.Fields(strings.NewReplacer("http://127.0.0.1:8002", s.URL, "backup.jsonl.gz", backup).Replace(line[1]))
			if code, out, err := memoryd(t, "", args...); code != 0 {
				t.Errorf("%q: exit code %d, %s%s", args, code, out, err)
			}
		}
		if info, err := os.Stat(backup); err != nil || info.Size() == 0 {
			t.Errorf("the copy: %v, %v", info, err)
		}
	})
}

// The lines of docs/calls.md are taken as it says.
func TestTheLinesOfTheCallsPageAreImported(t *testing.T) {
	page := rootFile(t, "docs/calls.md")
	_, lines, _ := strings.Cut(page, "```json\n")
	lines, after, _ := strings.Cut(lines, "```")
	name := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, t.TempDir(), nil)
	code, out, stderr := memoryd(t, "", "import", name, "--url", s.URL)
	out = strings.ReplaceAll(out, name, "calls.jsonl")
	if code != 0 || stderr != "" || !strings.Contains(after, strings.TrimSpace(out)) {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}
