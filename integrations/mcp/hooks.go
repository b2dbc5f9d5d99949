package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"
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
		path: under(".cursor/hooks.json"), version: 1,
		entry:  func(command string) any { return map[string]any{"command": command, "timeout": hookTimeout} },
		events: []string{"sessionStart", "preToolUse", "postToolUse", "postToolUseFailure", "preCompact", "stop"},
	},
	"copilot": {
		path: under(".copilot/hooks/memoryd.json"), version: 1,
		entry: func(command string) any {
			return map[string]any{"type": "command", "bash": command, "timeoutSec": hookTimeout}
		},
		events: []string{"PostToolUse", "PostToolUseFailure", "SessionStart"},
	},
}

// hookWords stand in every command that InstallHooks writes.
func hookWords(host string) string { return " hook " + host }

// InstallHooks plans the edit that makes a host of hookFiles call memoryd at the supported events. program
// is the path of memoryd; flags follow the host's name. The rest of the file stays the same,
// and installing twice changes nothing.
func InstallHooks(host, home, program string, flags []string) (Change, error) {
	words := []string{ShellWord(program) + hookWords(host)}
	for _, f := range flags {
		words = append(words, ShellWord(f))
	}
	command := strings.Join(words, " ")
	h := hookFiles[host]
	entry := valueOf(jsonOf(h.entry(command)))
	return planned(h.path(home), func(text []byte) ([]byte, error) {
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte("{}\n")
		}
		return editMember(text, "hooks", func(all, hooks *hujson.Object) error {
			for _, event := range h.events {
				if err := putHook(hooks, host, event, entry); err != nil {
					return err
				}
			}
			if place(all, "hooks") >= 0 {
				return nil
			}
			hooks.Members[0].Name.BeforeExtra, hooks.AfterExtra = hujson.Extra(madeObject[1:]), hujson.Extra("\n  ")
			put(all, "hooks", hooks)
			if h.version > 0 && place(all, "version") < 0 {
				put(all, "version", hujson.Int(int64(h.version)))
			}
			return nil
		})
	})
}

// UninstallHooks plans the edit that undoes InstallHooks.
func UninstallHooks(host, home string) (Change, error) {
	h := hookFiles[host]
	return planned(h.path(home), func(text []byte) ([]byte, error) {
		after, err := editMember(text, "hooks", func(all, hooks *hujson.Object) error {
			for _, event := range slices.Backward(slices.Clone(hooks.Members)) {
				if err := removeHook(all, hooks, host, nameOf(event), h.version); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil && bytes.Equal(text, after) {
			err = errors.New("memoryd is not installed there")
		}
		return after, err
	})
}

// The first bytes of an object and of a list that install made, which uninstall takes away
// whole.
const (
	madeObject = "{\n    "
	madeList   = "[\n      "
	madeEnd    = "\n    ]"
)

// hooksOf gives the list of an event, nil where there is none, and which entry is memoryd's, -1
// for none.
func hooksOf(hooks *hujson.Object, host, event string) (list *hujson.Array, own int, err error) {
	i := place(hooks, event)
	if i < 0 {
		return nil, -1, nil
	}
	list, ok := hooks.Members[i].Value.Value.(*hujson.Array)
	if !ok {
		return nil, -1, fmt.Errorf("hooks.%s: it is not a list", event)
	}
	return list, slices.IndexFunc(list.Elements, func(v hujson.Value) bool { return ours(textOf(v.Value), host) }), nil
}

func ours(v []byte, host string) bool {
	return bytes.Contains(v, []byte("memoryd")) && bytes.Contains(v, []byte(hookWords(host)))
}

// putHook puts memoryd's entry at the end of an event's list, or in the place of the one that is
// there.
func putHook(hooks *hujson.Object, host, event string, entry hujson.ValueTrimmed) error {
	list, own, err := hooksOf(hooks, host, event)
	switch {
	case err != nil:
		return err
	case list == nil:
		put(hooks, event, valueOf([]byte(madeList+string(textOf(entry))+madeEnd)))
	case own >= 0:
		list.Elements[own].Value = entry
	default:
		v := hujson.Value{Value: entry}
		if len(list.Elements) > 0 {
			v.BeforeExtra = hujson.Extra("\n      ")
		}
		list.Elements = attach(list.Elements, v, itself)
	}
	return nil
}

// removeHook undoes putHook, and takes what install made away whole.
func removeHook(all, hooks *hujson.Object, host, event string, version int) error {
	list, own, err := hooksOf(hooks, host, event)
	if err != nil || own < 0 {
		return err
	}
	if len(list.Elements) > 1 || !bytes.HasPrefix(textOf(list), []byte(madeList)) {
		list.Elements = detach(list.Elements, own, itself, itself)
		return nil
	}
	if len(hooks.Members) > 1 || !bytes.HasPrefix(textOf(hooks), []byte(madeObject)) {
		remove(hooks, event)
		return nil
	}
	last := len(all.Members) - 1
	if version > 0 && last > 0 && nameOf(all.Members[last]) == "version" && nameOf(all.Members[last-1]) == "hooks" { // made with it
		remove(all, "version")
	}
	remove(all, "hooks")
	return nil
}

// ShellWord returns a word as a shell reads it.
func ShellWord(word string) string {
	plain := func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("-_./:@%+=,", c)
	}
	if word != "" && strings.TrimLeftFunc(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
