package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
)

// host is a program whose configuration names MCP servers.
type host struct {
	path func(home string) string
	key  string // the member that holds the servers, by name
	kind string // set as `type` of an entry, where the host wants one
}

// hosts are the clients that the configuration of is known, by name.
var hosts = map[string]host{
	"claude-code":    {path: under(".claude.json"), key: "mcpServers", kind: "stdio"},
	"claude-desktop": {path: perSystem("Claude/claude_desktop_config.json"), key: "mcpServers"},
	"cursor":         {path: under(".cursor/mcp.json"), key: "mcpServers"},
	"vscode":         {path: perSystem("Code/User/mcp.json"), key: "servers", kind: "stdio"},
	"codex":          {path: under(".codex/config.toml"), key: "mcp_servers"},
	"gemini":         {path: under(".gemini/settings.json"), key: "mcpServers"},
}

// HostNames lists the clients that Install knows.
func HostNames() []string { return slices.Sorted(maps.Keys(hosts)) }

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
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args,omitempty" toml:"args,omitempty"`
}

// Change is an edit of a client's configuration that is not made yet.
type Change struct {
	Path          string
	Before, After []byte // Before is nil where there is no file
}

// Write makes the change. It keeps a copy of the file beside it and gives the
// copy's path, "" where there was no file.
func (c Change) Write(now time.Time) (backup string, err error) {
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return "", err
	}
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(c.Path); err == nil {
		mode = info.Mode().Perm()
		if backup, err = c.keep(now, mode); err != nil {
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

// keep writes the former contents to a file of their own, whatever else was kept at that time.
func (c Change) keep(now time.Time, mode fs.FileMode) (string, error) {
	name := c.Path + ".memoryd-" + now.UTC().Format("20060102T150405.000")
	for n := 1; ; n++ {
		backup := name
		if n > 1 {
			backup += "-" + strconv.Itoa(n)
		}
		f, err := os.OpenFile(backup, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(c.Before)
		return backup, errors.Join(err, f.Close())
	}
}

// Install plans how a client's configuration would name memoryd as a server, or,
// with wrap, put the wrapper before the server of that name. entry starts the
// server or the wrapper; what the wrapper needs to reach its server follows it.
func Install(client, home, wrap string, entry Entry) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, kind string) error {
		if wrap == "" {
			servers["memoryd"] = entryJSON(entry, kind, nil)
			return nil
		}
		raw, ok := servers[wrap]
		if !ok {
			return fmt.Errorf("there is no server %q; there are: %s", wrap, strings.Join(sorted(servers), ", "))
		}
		wrapped, err := wrapEntry(raw, entry)
		servers[wrap] = wrapped
		return err
	})
}

// Uninstall plans how to undo Install.
func Uninstall(client, home, wrap string) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, _ string) error {
		if wrap == "" {
			if _, ok := servers["memoryd"]; !ok {
				return errors.New("memoryd is not installed there")
			}
			delete(servers, "memoryd")
			return nil
		}
		original, err := unwrapEntry(servers[wrap])
		servers[wrap] = original
		return err
	})
}

func sorted(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }

// edit reads a client's configuration, lets f change its servers, and gives the
// text that results. Everything else keeps its place and its value.
func edit(client, home string, f func(servers map[string]json.RawMessage, kind string) error) (Change, error) {
	h, ok := hosts[client]
	if !ok {
		return Change{}, fmt.Errorf("--client: %q is not known; known are %s", client, strings.Join(HostNames(), ", "))
	}
	path := h.path(home)
	return planned(path, func(text []byte) ([]byte, error) {
		if strings.HasSuffix(path, ".toml") {
			return editTOML(text, h.key, f)
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

// members is an object whose members keep their order.
type members []member

type member struct {
	name  string
	value jsontext.Value
}

func readMembers(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil {
		return nil, err
	} else if t.Kind() != '{' {
		return nil, errors.New("it is no JSON object")
	}
	var all members
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		n := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, member{n, value.Clone()})
	}
	_, err := d.ReadToken()
	return all, err
}

func (m members) text() (jsontext.Value, error) {
	var b bytes.Buffer
	e := jsontext.NewEncoder(&b)
	_ = e.WriteToken(jsontext.BeginObject)
	for _, x := range m {
		_ = e.WriteToken(jsontext.String(x.name))
		if err := e.WriteValue(x.value); err != nil {
			return nil, err
		}
	}
	err := e.WriteToken(jsontext.EndObject)
	return bytes.TrimSpace(b.Bytes()), err
}

// set puts a member in its place, at the end if it is new; a nil value takes it
// away.
func (m members) set(name string, value []byte) members {
	i := slices.IndexFunc(m, func(x member) bool { return x.name == name })
	switch {
	case value == nil && i >= 0:
		return slices.Delete(m, i, i+1)
	case value == nil:
		return m
	case i < 0:
		return append(m, member{name, value})
	}
	m[i].value = value
	return m
}

func editJSON(text []byte, h host, f func(map[string]json.RawMessage, string) error) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	all, err := readMembers(text)
	if err != nil {
		return nil, fmt.Errorf("it is no plain JSON (comments?), so it is left as it is: %w", err)
	}
	servers := members{}
	if i := slices.IndexFunc(all, func(x member) bool { return x.name == h.key }); i >= 0 {
		if servers, err = readMembers(all[i].value); err != nil {
			return nil, fmt.Errorf("%s: %w", h.key, err)
		}
	}
	byName := map[string]json.RawMessage{}
	for _, s := range servers {
		byName[s.name] = json.RawMessage(s.value)
	}
	if err := f(byName, h.kind); err != nil {
		return nil, err
	}
	for _, s := range slices.Clone(servers) {
		servers = servers.set(s.name, byName[s.name])
	}
	for _, name := range sorted(byName) {
		servers = servers.set(name, byName[name])
	}
	value, err := servers.text()
	if err != nil {
		return nil, err
	}
	whole, err := all.set(h.key, value).text()
	if err != nil {
		return nil, err
	}
	if err := whole.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, err
	}
	return append(whole, '\n'), nil
}

// editTOML changes the tables of servers alone: each is written anew where it
// stood, what stands between them stays to the byte.
func editTOML(text []byte, key string, f func(map[string]json.RawMessage, string) error) ([]byte, error) {
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	before := map[string]json.RawMessage{}
	tables, _ := whole[key].(map[string]any)
	for name, table := range tables {
		raw, err := json.Marshal(table)
		if err != nil {
			return nil, err
		}
		before[name] = raw
	}
	after := maps.Clone(before)
	if err := f(after, ""); err != nil {
		return nil, err
	}
	out := string(text)
	for _, name := range sorted(before) {
		if bytes.Equal(before[name], after[name]) {
			continue
		}
		block := tableBlock(key, name)
		if !block.MatchString(out) {
			return nil, fmt.Errorf("the table of %q is written in a form that is not edited; change it by hand", name)
		}
		replacement, err := tomlTable(key, name, after[name])
		if err != nil {
			return nil, err
		}
		at := block.FindStringIndex(out)
		out = out[:at[0]] + replacement + out[at[1]:]
	}
	for _, name := range sorted(after) {
		if _, was := before[name]; was {
			continue
		}
		table, err := tomlTable(key, name, after[name])
		if err != nil {
			return nil, err
		}
		if out != "" {
			out = strings.TrimRight(out, "\n") + "\n\n"
		}
		out += table
	}
	return []byte(out), nil
}

// tableBlock finds a server's table and its sub-tables, up to the next other one.
func tableBlock(key, name string) *regexp.Regexp {
	head := regexp.QuoteMeta(key) + `\.(?:` + regexp.QuoteMeta(name) + `|"` + regexp.QuoteMeta(name) + `")`
	return regexp.MustCompile(`(?m)^\[` + head + `\][^\n]*\n(?:[^\[\n][^\n]*\n?|\n|\[` + head + `\.[^\n]*\n)*`)
}

func tomlTable(key, name string, raw json.RawMessage) (string, error) {
	if raw == nil {
		return "", nil
	}
	var entry map[string]any
	if err := json.Unmarshal(raw, &entry); err != nil {
		return "", err
	}
	text, err := toml.Marshal(map[string]any{key: map[string]any{name: entry}})
	if err != nil {
		return "", err
	}
	_, table, _ := strings.Cut(string(text), "["+key+"]\n") // an empty head above the table
	if table == "" {
		table = string(text)
	}
	return table, nil
}

func entryJSON(e Entry, kind string, rest map[string]json.RawMessage) json.RawMessage {
	all := members{}
	if kind != "" {
		all = all.set("type", []byte(`"`+kind+`"`))
	}
	command, _ := marshal(e.Command) // strings are always JSON
	args, _ := marshal(e.Args)
	all = all.set("command", command).set("args", args)
	for _, name := range sorted(rest) {
		all = all.set(name, rest[name])
	}
	text, _ := all.text() // made of values that are JSON
	return json.RawMessage(text)
}

// wrapEntry puts the wrapper before a server. What it does not understand of the
// entry, such as its environment, stays.
func wrapEntry(raw json.RawMessage, entry Entry) (json.RawMessage, error) {
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(raw, &rest); err != nil {
		return nil, err
	}
	var was Entry
	var address string
	if err := json.Unmarshal(raw, &was); err != nil {
		return nil, err
	}
	if slices.Contains(was.Args, "mcp-wrap") {
		return nil, errors.New("it is wrapped already")
	}
	kind := text(rest["type"])
	for _, name := range []string{"url", "serverUrl", "httpUrl"} {
		if address == "" {
			address = text(rest[name])
		}
	}
	switch {
	case was.Command != "":
		entry.Args = append(append(entry.Args, "--", was.Command), was.Args...)
	case address != "":
		if _, has := rest["headers"]; has {
			return nil, errors.New("it has headers of its own; wrap it by hand with --remote and MEMORYD_REMOTE_TOKEN")
		}
		entry.Args = append(entry.Args, "--remote", address)
		if kind != "" {
			kind = "stdio"
		}
	default:
		return nil, errors.New("it has neither a command nor a url")
	}
	for _, name := range []string{"command", "args", "type", "url", "serverUrl", "httpUrl"} {
		delete(rest, name)
	}
	return entryJSON(entry, kind, rest), nil
}

// unwrapEntry takes the wrapper away again.
func unwrapEntry(raw json.RawMessage) (json.RawMessage, error) {
	var rest map[string]json.RawMessage
	var was Entry
	if raw == nil || json.Unmarshal(raw, &rest) != nil || json.Unmarshal(raw, &was) != nil || !slices.Contains(was.Args, "mcp-wrap") {
		return nil, errors.New("it is not wrapped")
	}
	kind := text(rest["type"])
	for _, name := range []string{"command", "args", "type"} {
		delete(rest, name)
	}
	if i := slices.Index(was.Args, "--"); i >= 0 && i+1 < len(was.Args) {
		return entryJSON(Entry{was.Args[i+1], was.Args[i+2:]}, kind, rest), nil
	}
	i := slices.Index(was.Args, "--remote")
	if i < 0 || i+1 == len(was.Args) {
		return nil, errors.New("it does not say which server it wraps")
	}
	address, err := marshal(was.Args[i+1])
	if err != nil {
		return nil, err
	}
	all := members{}
	if kind != "" {
		all = all.set("type", []byte(`"http"`))
	}
	all = all.set("url", address)
	for _, name := range sorted(rest) {
		all = all.set(name, rest[name])
	}
	value, err := all.text()
	return json.RawMessage(value), err
}
