package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// hookFile is where a host keeps its hooks, and how it writes one.
type hookFile struct {
	path func(home string) string
	// events are those that memoryd serves.
	events []string
	// entry is what stands in the list of an event.
	entry func(command string) any
	// version is set where the host wants one beside the hooks.
	version int
}

// nested is an entry of Claude Code and of those that follow it; the timeout is in
// the host's unit.
func nested(name string, timeout int) func(string) any {
	return func(command string) any {
		hook := map[string]any{"type": "command", "command": command, "timeout": timeout}
		if name != "" {
			hook["name"] = name
		}
		return map[string]any{"matcher": "*", "hooks": []any{hook}}
	}
}

func flat(timeout string) func(string) any {
	return func(command string) any {
		entry := map[string]any{"command": command, timeout: hookTimeout}
		if timeout == "timeoutSec" {
			delete(entry, "command")
			entry["type"], entry["bash"] = "command", command
		}
		return entry
	}
}

// hookTimeout is after how many seconds a host gives a hook up; memoryd does so
// before.
const hookTimeout = 5

var hookFiles = map[string]hookFile{
	"claude-code": {
		path: under(".claude/settings.json"), entry: nested("", hookTimeout),
		events: []string{"PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "SessionStart", "UserPromptSubmit", "SessionEnd"},
	},
	"codex": {
		path: under(".codex/hooks.json"), entry: nested("", hookTimeout),
		events: []string{"PreToolUse", "PostToolUse", "PreCompact", "SessionStart", "UserPromptSubmit", "Stop"},
	},
	"gemini": {
		path: under(".gemini/settings.json"), entry: nested("memoryd", 1000*hookTimeout),
		events: []string{"BeforeTool", "AfterTool", "SessionStart", "BeforeAgent", "SessionEnd"},
	},
	"cursor": {
		path: under(".cursor/hooks.json"), entry: flat("timeout"), version: 1,
		events: []string{"sessionStart", "preToolUse", "postToolUse", "postToolUseFailure", "preCompact", "stop"},
	},
	"copilot": {
		path: under(".copilot/hooks/memoryd.json"), entry: flat("timeoutSec"), version: 1,
		events: []string{"PostToolUse", "PostToolUseFailure", "SessionStart"},
	},
}

// HookHosts lists the hosts that InstallHooks knows.
func HookHosts() []string { return slices.Sorted(maps.Keys(hookFiles)) }

// hookWords stand in every command that InstallHooks writes.
func hookWords(host string) string { return " hook " + host }

// InstallHooks plans how a host's configuration would call memoryd at the events that
// it serves. program is the path of memoryd, flags follow the host's name. What else
// is in the file stays; installing twice changes nothing.
func InstallHooks(host, home, program string, flags []string) (Change, error) {
	words := []string{shellQuoted(program) + hookWords(host)}
	for _, f := range flags {
		words = append(words, shellQuoted(f))
	}
	command := strings.Join(words, " ")
	return editHooks(host, home, func(f *hookFile, lists map[string][]jsontext.Value) error {
		for _, event := range f.events {
			entry, err := marshal(f.entry(command))
			if err != nil {
				return err
			}
			lists[event] = append(withoutOurs(lists[event], host), jsontext.Value(entry))
		}
		return nil
	})
}

// UninstallHooks plans how to undo InstallHooks.
func UninstallHooks(host, home string) (Change, error) {
	return editHooks(host, home, func(_ *hookFile, lists map[string][]jsontext.Value) error {
		found := false
		for event, list := range lists {
			kept := withoutOurs(list, host)
			found = found || len(kept) < len(list)
			lists[event] = kept
		}
		if !found {
			return errors.New("memoryd is not installed there")
		}
		return nil
	})
}

// withoutOurs leaves out the entries that call memoryd.
func withoutOurs(list []jsontext.Value, host string) []jsontext.Value {
	return slices.DeleteFunc(list, func(v jsontext.Value) bool {
		return bytes.Contains(v, []byte("memoryd")) && bytes.Contains(v, []byte(hookWords(host)))
	})
}

func editHooks(host, home string, f func(*hookFile, map[string][]jsontext.Value) error) (Change, error) {
	h, ok := hookFiles[host]
	if !ok {
		return Change{}, fmt.Errorf("%q is not known; known are %s", host, strings.Join(HookHosts(), ", "))
	}
	return planned(h.path(home), func(text []byte) ([]byte, error) { return editHookText(text, &h, f) })
}

func editHookText(text []byte, h *hookFile, f func(*hookFile, map[string][]jsontext.Value) error) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	all, err := readMembers(text)
	if err != nil {
		return nil, fmt.Errorf("it is no plain JSON (comments?), so it is left as it is: %w", err)
	}
	events := members{}
	if i := slices.IndexFunc(all, func(x member) bool { return x.name == "hooks" }); i >= 0 {
		if events, err = readMembers(all[i].value); err != nil {
			return nil, fmt.Errorf("hooks: %w", err)
		}
	}
	lists := map[string][]jsontext.Value{}
	for _, e := range events {
		var list []jsontext.Value
		if err := json.Unmarshal(e.value, &list); err != nil {
			return nil, fmt.Errorf("hooks.%s: %w", e.name, err)
		}
		lists[e.name] = list
	}
	if err := f(h, lists); err != nil {
		return nil, err
	}
	for _, event := range slices.Sorted(maps.Keys(lists)) {
		var value []byte
		if len(lists[event]) > 0 {
			if value, err = marshal(lists[event]); err != nil {
				return nil, err
			}
		}
		events = events.set(event, value)
	}
	value, err := events.text()
	if err != nil {
		return nil, err
	}
	if h.version > 0 {
		all = all.set("version", fmt.Append(nil, h.version))
	}
	whole, err := all.set("hooks", value).text()
	if err != nil {
		return nil, err
	}
	if err := whole.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(whole, '\n'), nil
}

// shellQuoted is a word as a shell reads it.
func shellQuoted(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$`&|;<>()*?[]{}~#!") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
