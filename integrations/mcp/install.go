package mcp

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// host is a program whose configuration names MCP servers.
type host struct {
	path func(home string) string
	key  string // the member that holds the servers, by name
	kind string // set as `type` of an entry, where the host wants one
	list bool   // the command and its arguments are one list
	more string // members that an entry needs besides, with a comma after each
}

// hosts are the clients that the configuration of is known, by name.
var hosts = map[string]host{
	"claude-code":    {path: under(".claude.json"), key: "mcpServers", kind: "stdio"},
	"claude-desktop": {path: perSystem("Claude/claude_desktop_config.json"), key: "mcpServers"},
	"cursor":         {path: under(".cursor/mcp.json"), key: "mcpServers"},
	"vscode":         {path: perSystem("Code/User/mcp.json"), key: "servers", kind: "stdio"},
	"codex":          {path: under(".codex/config.toml"), key: "mcp_servers"},
	"gemini":         {path: under(".gemini/settings.json"), key: "mcpServers"},
	"opencode":       {path: under(".config/opencode/opencode.json"), key: "mcp", kind: "local", list: true, more: `"enabled":true,`},
	"copilot":        {path: under(".copilot/mcp-config.json"), key: "mcpServers", kind: "local", more: `"tools":["*"],`},
	"cline":          {path: perSystem("Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"), key: "mcpServers"},
	"windsurf":       {path: under(".codeium/windsurf/mcp_config.json"), key: "mcpServers"},
	"zed":            {path: under(".config/zed/settings.json"), key: "context_servers", more: `"source":"custom",`},
	"amp":            {path: under(".config/amp/settings.json"), key: "amp.mcpServers"},
	"goose":          {path: under(".config/goose/config.yaml"), key: "extensions"},
}

func under(path string) func(string) string {
	return func(home string) string { return filepath.Join(home, filepath.FromSlash(path)) }
}

// perSystem places a file where desktop programs of this system keep theirs.
func perSystem(path string) func(string) string {
	folder := map[string]string{"darwin": "Library/Application Support", "windows": "AppData/Roaming"}[runtime.GOOS]
	if folder == "" {
		folder = ".config"
	}
	return under(folder + "/" + path)
}

// Entry is a server in a client's configuration.
type Entry struct {
	Command string   `json:"command" toml:"command,omitempty"`
	Args    []string `json:"args,omitempty" toml:"args,omitempty"`
}

// Change is a planned edit of a client's configuration.
type Change struct {
	Path          string
	Before, After []byte // Before is nil if there is no file
}

// Write makes the change. It keeps one copy of the old file beside it and returns the path of
// the copy, "" if there was no file.
func (c Change) Write() (backup string, err error) {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(c.Path); err == nil {
		mode = info.Mode().Perm()
		backup = c.Path + ".memoryd-backup"
		if err := os.WriteFile(backup, c.Before, mode); err != nil {
			return "", err
		}
	}
	// Written beside and renamed: a client never reads half of it.
	part := c.Path + ".memoryd-part"
	if err := os.WriteFile(part, c.After, mode); err != nil {
		return backup, err
	}
	return backup, os.Rename(part, c.Path)
}

// Install plans the edit that adds memoryd to the servers of a client, one of hosts. With wrap, it puts the
// wrapper before the server of that name instead. entry starts the server or the wrapper,
// followed by what the wrapper needs to reach its server.
func Install(client, home, wrap string, entry Entry) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, h host) (string, json.RawMessage, error) {
		if wrap == "" {
			return "memoryd", textOf(entryOf(entry, h, h.kind, true)), nil
		}
		raw, ok := servers[wrap]
		if !ok {
			known := strings.Join(slices.Sorted(maps.Keys(servers)), ", ")
			return "", nil, fmt.Errorf("there is no server %q; known servers: %s", wrap, known)
		}
		wrapped, err := wrapEntry(raw, entry, h)
		return wrap, wrapped, err
	})
}

// Uninstall plans the edit that undoes Install.
func Uninstall(client, home, wrap string) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, h host) (string, json.RawMessage, error) {
		if _, ok := servers["memoryd"]; wrap == "" && !ok {
			return "", nil, errors.New("memoryd is not installed there")
		} else if wrap == "" {
			return "memoryd", nil, nil
		}
		original, err := unwrapEntry(servers[wrap], h)
		return wrap, original, err
	})
}

// rewrite gives the name of one of the servers, or of a new one, and the entry that it gets; nil
// takes it away.
type rewrite func(servers map[string]json.RawMessage, h host) (name string, entry json.RawMessage, err error)

// edit reads a client's configuration, gives a server the entry of f, and gives the
// text that results. Everything else keeps its place and its value.
func edit(client, home string, f rewrite) (Change, error) {
	h := hosts[client]
	path := h.path(home)
	return planned(path, func(text []byte) ([]byte, error) {
		if strings.HasSuffix(path, ".toml") {
			return editTOML(text, h.key, f)
		}
		if strings.HasSuffix(path, ".yaml") {
			return editYAML(text, h.key, f)
		}
		return editJSON(text, h, f)
	})
}

// planned is the change that edit would make to a file, which need not be there.
func planned(path string, edit func(text []byte) ([]byte, error)) (Change, error) {
	c := Change{Path: path}
	var err error
	if c.Before, err = os.ReadFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if c.After, err = edit(c.Before); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// entryOf is an entry in the shape of a host, without blanks. A kind of "" is left out; an entry
// that is new has the members that the host needs besides.
func entryOf(e Entry, h host, kind string, isNew bool) *hujson.Object {
	var head string
	if kind != "" {
		head = `"type":"` + kind + `",`
	}
	if isNew {
		head += h.more
	}
	all, _ := readLoose([]byte("{" + head + "}")) // it stands in this file
	if h.list {
		put(all, "command", valueOf(jsonOf(append([]string{e.Command}, e.Args...))))
	} else {
		put(all, "command", valueOf(jsonOf(e.Command)))
		put(all, "args", valueOf(jsonOf(e.Args)))
	}
	v := hujson.Value{Value: all}
	v.Minimize()
	return all
}

// started reads how an entry of a host starts its server.
func started(raw json.RawMessage, h host) (e Entry, err error) {
	if !h.list {
		return e, json.Unmarshal(raw, &e)
	}
	var words struct {
		Command []string `json:"command"`
	}
	if err = json.Unmarshal(raw, &words); err == nil && len(words.Command) > 0 {
		e = Entry{words.Command[0], words.Command[1:]}
	}
	return e, err
}

// starting are the members that say how a server is started, or where it listens.
var starting = []string{"command", "args", "type", "url", "serverUrl", "httpUrl"}

// wrapEntry puts the wrapper before a server. What it does not understand of the
// entry, such as its environment, stays.
func wrapEntry(raw json.RawMessage, entry Entry, h host) (json.RawMessage, error) {
	all, err := readLoose(raw)
	if err != nil {
		return nil, err
	}
	was, err := started(plainJSON(raw), h)
	if err != nil {
		return nil, err
	}
	if slices.Contains(was.Args, "mcp-wrap") {
		return nil, errors.New("it is wrapped already")
	}
	if h.key != "" { // else the file keeps its lines
		entry.Args = append(entry.Args, "--was", string(outline(raw)))
	}
	kind := stringIn(all, "type")
	switch address := cmp.Or(stringIn(all, "url"), stringIn(all, "serverUrl"), stringIn(all, "httpUrl")); {
	case was.Command != "":
		entry.Args = append(append(entry.Args, "--", was.Command), was.Args...)
	case address == "":
		return nil, errors.New("it has neither a command nor a url")
	case place(all, "headers") >= 0:
		return nil, errors.New("it has headers of its own; wrap it by hand with --remote and MEMORYD_REMOTE_TOKEN")
	default:
		entry.Args = append(entry.Args, "--remote", address)
		if kind != "" {
			kind = cmp.Or(h.kind, "stdio")
		}
	}
	now := entryOf(entry, h, kind, false)
	keep(now, all)
	return textOf(now), nil
}

// stringIn is the text that a member is, "" for none.
func stringIn(o *hujson.Object, name string) (s string) {
	if i := place(o, name); i >= 0 {
		_ = json.Unmarshal(textOf(o.Members[i].Value.Value), &s) // what is no string has no text
	}
	return s
}

// outline is the text of an entry without the values that stay in it, some of which are secret.
func outline(raw json.RawMessage) []byte {
	all, _ := readLoose(raw) // it was read before
	for i := range all.Members {
		if m := &all.Members[i]; !slices.Contains(starting, nameOf(*m)) {
			m.Value.Value = hujson.Literal("null")
		}
	}
	return textOf(all)
}

// keep gives an entry the members of another one that do not say how the server is started.
func keep(now, of *hujson.Object) {
	now.Members = slices.DeleteFunc(now.Members, func(m hujson.ObjectMember) bool {
		return !slices.Contains(starting, nameOf(m)) && place(of, nameOf(m)) < 0
	})
	for _, m := range of.Members {
		if name := nameOf(m); slices.Contains(starting, name) {
			continue
		} else if i := place(now, name); i >= 0 {
			now.Members[i].Value.Value = m.Value.Value
		} else {
			now.Members = attach(now.Members, m, valueIn)
		}
	}
}

// unwrapEntry takes the wrapper away again.
func unwrapEntry(raw json.RawMessage, h host) (json.RawMessage, error) {
	was, err := started(plainJSON(raw), h)
	if raw == nil || err != nil || !slices.Contains(was.Args, "mcp-wrap") {
		return nil, errors.New("it is not wrapped")
	}
	all, err := readLoose(raw)
	if err != nil {
		return nil, err
	}
	after := func(flag string) []string {
		if i := slices.Index(was.Args, flag); i >= 0 && i+1 < len(was.Args) {
			return was.Args[i+1:]
		}
		return nil
	}
	now, kind := &hujson.Object{}, stringIn(all, "type")
	if text := after("--was"); text != nil {
		if now, err = readLoose([]byte(text[0])); err != nil {
			return nil, err
		}
	} else if words := after("--"); words != nil { // of a file whose lines are kept, or wrapped by 0.1.0
		now = entryOf(Entry{words[0], words[1:]}, h, kind, false)
	} else if address := after("--remote"); address != nil {
		if kind != "" {
			put(now, "type", hujson.String(map[bool]string{true: "remote", false: "http"}[h.list]))
		}
		put(now, "url", valueOf(jsonOf(address[0])))
	} else {
		return nil, errors.New("it does not say which server it wraps")
	}
	keep(now, all)
	return textOf(now), nil
}
