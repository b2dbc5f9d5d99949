package mcp

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

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

// hookHosts lists the hosts that InstallHooks supports.
func hookHosts() []string { return slices.Sorted(maps.Keys(hookFiles)) }

// hookWords stand in every command that InstallHooks writes.
func hookWords(host string) string { return " hook " + host }

// InstallHooks plans the edit that makes a host call memoryd at the supported events. program
// is the path of memoryd; flags follow the host's name. The rest of the file stays the same,
// and installing twice changes nothing.
func InstallHooks(host, home, program string, flags []string) (Change, error) {
	words := []string{ShellWord(program) + hookWords(host)}
	for _, f := range flags {
		words = append(words, ShellWord(f))
	}
	command := strings.Join(words, " ")
	h, ok := hookFiles[host]
	if !ok {
		return Change{}, unknownHookHost(host)
	}
	entry := jsonOf(h.entry(command))
	return planned(h.path(home), func(text []byte) (_ []byte, err error) {
		if len(bytes.TrimSpace(text)) == 0 {
			text = []byte("{}\n")
		}
		for _, event := range h.events {
			if text, err = withHook(text, host, event, entry, h.version); err != nil {
				return nil, err
			}
		}
		return text, nil
	})
}

// UninstallHooks plans the edit that undoes InstallHooks.
func UninstallHooks(host, home string) (Change, error) {
	h, ok := hookFiles[host]
	if !ok {
		return Change{}, unknownHookHost(host)
	}
	return planned(h.path(home), func(text []byte) ([]byte, error) {
		_, events, err := hooksIn(text)
		if err != nil {
			return nil, err
		}
		was := text
		for _, e := range slices.Backward(events) {
			if text, err = withoutHook(text, host, e.name, h.version); err != nil {
				return nil, err
			}
		}
		if bytes.Equal(was, text) {
			return nil, errors.New("memoryd is not installed there")
		}
		return text, nil
	})
}

func unknownHookHost(host string) error {
	return fmt.Errorf("unknown host %q; known hosts: %s", host, strings.Join(hookHosts(), ", "))
}

// The first bytes of an object and of a list that install made, which uninstall takes away
// whole.
const (
	madeObject = "{\n    "
	madeList   = "[\n      "
	madeEnd    = "\n    ]"
)

// hooksIn finds the object with the hooks, nil where there is none, and its lists.
func hooksIn(text []byte) (whole *member, events members, err error) {
	all, err := readLoose(text)
	if err != nil {
		return nil, nil, fmt.Errorf("it is not JSON and stays unchanged: %w", err)
	}
	i := all.index("hooks")
	if i < 0 {
		return nil, nil, nil
	}
	if events, err = readLoose(text[all[i].start():all[i].to]); err != nil {
		return nil, nil, fmt.Errorf("hooks: %w", err)
	}
	return &all[i], events, nil
}

// listOfHooks reads an event's list: where it stands in the text, and its entries.
func listOfHooks(text []byte, event string) (from, to int, entries []member, err error) {
	whole, events, err := hooksIn(text)
	i := events.index(event)
	if err != nil || i < 0 {
		return -1, -1, nil, err
	}
	from, to = whole.start()+events[i].start(), whole.start()+events[i].to
	d := jsontext.NewDecoder(bytes.NewReader(plainJSON(text[from:to])))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '[' {
		return 0, 0, nil, fmt.Errorf("hooks.%s: it is not a list", event)
	}
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return 0, 0, nil, fmt.Errorf("hooks.%s: %w", event, err)
		}
		end := int(d.InputOffset())
		entries = append(entries, member{value: v.Clone(), from: from + end - len(v), to: from + end})
	}
	return from, to, entries, nil
}

func ours(v []byte, host string) bool {
	return bytes.Contains(v, []byte("memoryd")) && bytes.Contains(v, []byte(hookWords(host)))
}

// withHook puts memoryd's entry at the end of an event's list, or in the place of the one
// that is there, and changes no other byte.
func withHook(text []byte, host, event string, entry []byte, version int) ([]byte, error) {
	whole, _, err := hooksIn(text)
	if err != nil {
		return nil, err
	}
	from, _, entries, err := listOfHooks(text, event)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(entries, func(x member) bool { return ours(x.value, host) }); i >= 0 {
		return slices.Concat(text[:entries[i].from], entry, text[entries[i].to:]), nil
	}
	switch {
	case len(entries) > 0:
		last := entries[len(entries)-1]
		return slices.Concat(text[:last.to], []byte(",\n      "), entry, text[last.to:]), nil
	case from >= 0:
		return slices.Concat(text[:from+1], entry, text[from+1:]), nil
	}
	list := []byte(madeList + string(entry) + madeEnd)
	if whole != nil {
		at := whole.start()
		return slices.Concat(text[:at], spliceMember(text[at:whole.to], event, list), text[whole.to:]), nil
	}
	all, _ := readLoose(text) // it was read above
	text = spliceMember(text, "hooks", []byte(madeObject+fmt.Sprintf("%q: ", event)+string(list)+"\n  }"))
	if version > 0 && all.index("version") < 0 {
		text = spliceMember(text, "version", fmt.Append(nil, version))
	}
	return text, nil
}

// withoutHook undoes withHook.
func withoutHook(text []byte, host, event string, version int) ([]byte, error) {
	from, to, entries, err := listOfHooks(text, event)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(entries, func(x member) bool { return ours(x.value, host) })
	switch {
	case i < 0:
		return text, nil
	case i > 0:
		return slices.Concat(text[:entries[i-1].to], text[entries[i].to:]), nil
	case len(entries) > 1:
		return slices.Concat(text[:entries[0].from], text[entries[1].from:]), nil
	case !bytes.HasPrefix(text[from:to], []byte(madeList)):
		return slices.Concat(text[:entries[0].from], text[entries[0].to:]), nil
	}
	whole, events, _ := hooksIn(text) // it was read above
	object := text[whole.start():whole.to]
	if len(events) > 1 || !bytes.HasPrefix(object, []byte(madeObject)) {
		return slices.Concat(text[:whole.start()], spliceMember(object, event, nil), text[whole.to:]), nil
	}
	all, _ := readLoose(text)
	last := len(all) - 1
	if version > 0 && last > 0 && all[last].name == "version" && all[last-1].name == "hooks" { // made with it
		text = spliceMember(text, "version", nil)
	}
	return spliceMember(text, "hooks", nil), nil
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
