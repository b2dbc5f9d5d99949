package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// longest is how long a program may take.
const longest = 20 * time.Second

// shells are names of tools that run command lines.
var shells = []string{"bash", "run_command", "execute_shell", "terminal", "shell.exec"}

// saysNo are programs whose status 1 is an answer.
var saysNo = []string{"grep ", "diff ", "cmp "}

// setsOf are the sets that a list fills; they share no tool. Of those of commands.txt one is to
// learn from.
var setsOf = map[string][]string{
	"commands.txt": {"commands.txt", "commandsaside.txt"}, "tools.txt": {"tools.txt", "toolsaside.txt"},
	"documents.txt": {"documents.txt", "documentsaside.txt"},
	"unseen.txt":    {"unseen.txt"},
}

// runPrograms runs what a list names, in a folder of its own, and writes what came of it to
// its sets. Each output is labelled by its exit status, and stands there
// twice: as that of a shell, and of a tool that does this alone. What printed nothing is left
// out.
func runPrograms(ctx context.Context, list, root string) error {
	sets := setsOf[filepath.Base(list)]
	text, err := os.ReadFile(list) //nolint:gosec // a file of the sources
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // the system clears the rest away
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	const nodePath, pythonPath = "/usr/lib/node_modules", "/usr/local"
	scrub := strings.NewReplacer(folder, "/srv/app", home, "/home/ann", server.URL, "http://127.0.0.1:8080", "$SERVER",
		"http://127.0.0.1:8080", cmp.Or(os.Getenv("NODE_PATH"), nodePath), nodePath, cmp.Or(os.Getenv("VIRTUAL_ENV"), pythonPath), pythonPath)
	shell := func(line string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, longest)
		defer cancel()
		c := exec.CommandContext(ctx, "bash", "-c", line)
		c.WaitDelay = time.Second // a daemon that it left may hold its output open
		c.Dir, c.Env = folder, append(os.Environ(), "HOME="+folder, "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "SERVER="+server.URL)
		out, err := c.CombinedOutput()
		return strings.TrimSpace(scrub.Replace(string(out))), err
	}
	part, place := map[string]int{}, 0
	parts := make([]strings.Builder, len(sets))
	for line := range strings.SplitSeq(string(text), "\n") {
		if setup, is := strings.CutPrefix(line, "+ "); is {
			if out, err := shell(setup); err != nil {
				return fmt.Errorf("%s: %w: %s", setup, err, out)
			}
			continue
		}
		tool, command, is := strings.Cut(line, " | ")
		if !is || strings.HasPrefix(line, "#") {
			continue
		}
		if _, known := part[tool]; !known {
			part[tool] = len(part) % len(sets)
		}
		out, err := shell(command)
		status, failed := errors.AsType[*exec.ExitError](err)
		no := failed && status.ExitCode() == 1 && beginsAny(command, saysNo)
		if out == "" || no || len(out) > 6000 || strings.Contains(out, "\n@@ ") ||
			strings.Contains(out, "not found") && failed && status.ExitCode() == 127 {
			continue
		}
		label := "ok"
		if failed {
			label = "error"
		}
		command = scrub.Replace(command)
		_, rest, _ := strings.Cut(command, " ")
		for _, c := range []labelled{
			labelledCall(shells[place%len(shells)], label, map[string]any{"command": command}, out),
			labelledCall(tool, label, map[string]any{"query": rest}, out),
		} {
			fmt.Fprintf(&parts[part[tool]], "@@ %s | %s | %s\n%s\n", c.call.Tool, label, c.call.Input, out)
		}
		place++
	}
	for i, name := range sets {
		if err := writeOutputs(root, name, parts[i].String()); err != nil {
			return err
		}
	}
	return nil
}

// beginsAny reports whether s begins with one of the texts.
func beginsAny(s string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(s, b) })
}
