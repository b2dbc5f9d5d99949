package mcp

import (
	"bytes"
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

	"github.com/go-json-experiment/json/jsontext"
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

// HostNames lists the clients that Install supports.
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

// Install plans the edit that adds memoryd to a client's servers. With wrap, it puts the
// wrapper before the server of that name instead. entry starts the server or the wrapper,
// followed by what the wrapper needs to reach its server.
func Install(client, home, wrap string, entry Entry) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, h host) error {
		if wrap == "" {
			servers["memoryd"] = entryJSON(entry, h, h.kind, nil)
			return nil
		}
		raw, ok := servers[wrap]
		if !ok {
			return fmt.Errorf("there is no server %q; known servers: %s", wrap, strings.Join(sorted(servers), ", "))
		}
		wrapped, err := wrapEntry(raw, entry, h)
		servers[wrap] = wrapped
		return err
	})
}

// Uninstall plans the edit that undoes Install.
func Uninstall(client, home, wrap string) (Change, error) {
	return edit(client, home, func(servers map[string]json.RawMessage, h host) error {
		if wrap == "" {
			if _, ok := servers["memoryd"]; !ok {
				return errors.New("memoryd is not installed there")
			}
			delete(servers, "memoryd")
			return nil
		}
		original, err := unwrapEntry(servers[wrap], h)
		servers[wrap] = original
		return err
	})
}

func sorted(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }

// edit reads a client's configuration, lets f change its servers, and gives the
// text that results. Everything else keeps its place and its value.
func edit(client, home string, f func(servers map[string]json.RawMessage, h host) error) (Change, error) {
	h, ok := hosts[client]
	if !ok {
		return Change{}, fmt.Errorf("--client: unknown client %q; known clients: %s", client, strings.Join(HostNames(), ", "))
	}
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

// members is an object whose members keep their order.
type members []member

type member struct {
	name     string
	value    jsontext.Value
	from, to int // where it stood in the text that it was read from
}

// readLoose is readMembers where there may be comments and trailing commas: it is for
// edits that leave them in the text.
func readLoose(text []byte) (members, error) { return readMembers(plainJSON(text)) }

func readMembers(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if t, err := d.ReadToken(); err != nil {
		return nil, err
	} else if t.Kind() != '{' {
		return nil, errors.New("it is not a JSON object")
	}
	var all members
	for d.PeekKind() == '"' {
		from := int(d.InputOffset())
		from += len(text[from:]) - len(bytes.TrimLeft(text[from:], ", \t\r\n"))
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		n := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		all = append(all, member{n, value.Clone(), from, int(d.InputOffset())})
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
		return append(m, member{name: name, value: value})
	}
	m[i].value = value
	return m
}

// editJSON puts the entries that f changes into their places, and changes no other byte.
func editJSON(text []byte, h host, f func(map[string]json.RawMessage, host) error) ([]byte, error) {
	out := text
	if len(bytes.TrimSpace(text)) == 0 {
		out = []byte("{}\n")
	}
	all, err := readLoose(out)
	if err != nil {
		return nil, fmt.Errorf("it is not JSON and stays unchanged: %w", err)
	}
	servers := members{}
	i := slices.IndexFunc(all, func(x member) bool { return x.name == h.key })
	if i >= 0 {
		if servers, err = readMembers(all[i].value); err != nil {
			return nil, fmt.Errorf("%s: %w", h.key, err)
		}
	}
	before := map[string]json.RawMessage{}
	for _, s := range servers {
		before[s.name] = json.RawMessage(s.value)
	}
	after := maps.Clone(before)
	if err := f(after, h); err != nil {
		return nil, err
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(sorted(before), sorted(after)...)))) {
		switch {
		case bytes.Equal(before[name], after[name]):
		case i < 0:
			out = spliceMember(out, h.key, []byte("{\n    \""+name+"\": "+string(after[name])+"\n  }"))
		case after[name] == nil && len(servers) == 1 && bytes.HasPrefix(all[i].value, []byte("{\n    \""+name)):
			out = spliceMember(out, h.key, nil) // made by install
		default:
			from, to := all[i].to-len(all[i].value), all[i].to
			value := after[name]
			if k := slices.IndexFunc(servers, func(x member) bool { return x.name == name }); k >= 0 && value != nil {
				value = relaid(out[from+servers[k].to-len(servers[k].value):from+servers[k].to], value)
			}
			out = slices.Concat(out[:from], spliceMember(out[from:to], name, value), out[to:])
		}
	}
	return out, nil
}

// relaid is an entry with the members of another value. What they share keeps its bytes, also
// the words at the end of a list: a wrapped server is given back as it was written.
func relaid(text []byte, value json.RawMessage) []byte {
	was, err := readLoose(text)
	now, failed := readMembers(value)
	if err != nil || failed != nil {
		return value
	}
	old := text
	for _, m := range was {
		k := slices.IndexFunc(now, func(x member) bool { return x.name == m.name })
		if k < 0 {
			text = spliceMember(text, m.name, nil)
			continue
		}
		mine := old[m.to-len(m.value) : m.to]
		theirs := now[k].value
		now = slices.Delete(now, k, k+1)
		if err := cmp.Or(m.value.Compact(), theirs.Compact()); err != nil || !bytes.Equal(m.value, theirs) {
			text = spliceMember(text, m.name, relaidList(mine, theirs))
		}
	}
	for _, m := range now {
		if last, err := readLoose(text); err == nil && len(last) > 0 && !bytes.Contains(text, []byte("\n")) {
			end := last[len(last)-1].to
			text = slices.Concat(text[:end], fmt.Appendf(nil, ", %q: %s", m.name, m.value), text[end:])
			continue
		}
		text = spliceMember(text, m.name, m.value)
	}
	return text
}

// relaidList is a list that ends with what another one holds, or the other way round, with
// the bytes of that; nil where nothing is left of a list that was not there. What an empty
// list was is told by a blank.
func relaidList(text, value []byte) []byte {
	var was, now []string
	if json.Unmarshal(plainJSON(text), &was) != nil || json.Unmarshal(value, &now) != nil {
		return value
	}
	inner := text[1 : len(text)-1]
	switch more := len(now) - len(was); {
	case more > 0 && slices.Equal(was, now[more:]):
		first, _ := marshal(now[:more]) // strings are always JSON
		between := ","
		if len(was) == 0 {
			between = " "
		}
		return slices.Concat([]byte(first[:len(first)-1]), []byte(between), inner, []byte("]"))
	case more < 0 && slices.Equal(now, was[-more:]):
		first, _ := marshal(was[:-more])
		if rest, ok := bytes.CutPrefix(text, first[:len(first)-1]); ok && len(rest) > 1 {
			return slices.Concat([]byte("["), rest[1:])
		} else if ok {
			return nil
		}
	}
	return value
}

// plainJSON puts blanks in the place of comments and of trailing commas.
func plainJSON(text []byte) []byte {
	out := slices.Clone(text)
	comma := -1
	for i := 0; i < len(out); {
		end := i + 1
		switch c := out[i]; {
		case c == '"':
			end, comma = quoted(out, i), -1
		case bytes.HasPrefix(out[i:], []byte("//")):
			end = lineEnd(out, i)
		case bytes.HasPrefix(out[i:], []byte("/*")):
			if n := bytes.Index(out[i+2:], []byte("*/")); n >= 0 {
				end = i + n + 4
			}
		case c == ',':
			comma = i
		case (c == '}' || c == ']') && comma >= 0:
			out[comma], comma = ' ', -1
		case !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)):
			comma = -1
		}
		if out[i] == '/' && end > i+1 {
			for k := i; k < end; k++ {
				if out[k] != '\n' {
					out[k] = ' '
				}
			}
		}
		i = end
	}
	return out
}

// spliceMember gives an object's member another value, or a new one at the end; nil
// takes it away with the comma that it needed.
func spliceMember(object []byte, name string, value []byte) []byte {
	all, err := readLoose(object)
	if err != nil { // it was read before
		return object
	}
	end := bytes.IndexByte(plainJSON(object), '{') + 1
	i := slices.IndexFunc(all, func(x member) bool { return x.name == name })
	switch {
	case i >= 0 && value != nil:
		return slices.Concat(object[:all[i].to-len(all[i].value)], value, object[all[i].to:])
	case i > 0:
		return slices.Concat(object[:all[i-1].to], object[all[i].to:])
	case i == 0 && len(all) > 1:
		return slices.Concat(object[:all[0].from], object[all[1].from:])
	case i == 0:
		return slices.Concat(object[:end], object[all[0].to:])
	}
	line := fmt.Sprintf("%q: %s", name, value)
	if len(all) > 0 {
		end = all[len(all)-1].to
		line = ",\n" + string(indentOf(object, all[0].from)) + line
	}
	return slices.Concat(object[:end], []byte(line), object[end:])
}

// indentOf is the space before the place where a line begins with it.
func indentOf(text []byte, at int) []byte {
	line := text[bytes.LastIndexByte(text[:at], '\n')+1 : at]
	if len(bytes.TrimLeft(line, " \t")) > 0 {
		return []byte("    ")
	}
	return line
}

// entryJSON writes an entry in the shape of a host. A kind of "" is left out.
func entryJSON(e Entry, h host, kind string, rest map[string]json.RawMessage) json.RawMessage {
	all := members{}
	if kind != "" {
		all = all.set("type", []byte(`"`+kind+`"`))
	}
	if rest == nil && h.more != "" {
		more, _ := readLoose([]byte("{" + h.more + "}")) // it stands in this file
		all = append(all, more...)
	}
	command, _ := marshal(e.Command) // strings are always JSON
	args, _ := marshal(e.Args)
	if h.list {
		command, _ = marshal(append([]string{e.Command}, e.Args...))
		all = all.set("command", command)
	} else {
		all = all.set("command", command).set("args", args)
	}
	for _, name := range sorted(rest) {
		all = all.set(name, rest[name])
	}
	text, _ := all.text() // made of values that are JSON
	return json.RawMessage(text)
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

// wrapEntry puts the wrapper before a server. What it does not understand of the
// entry, such as its environment, stays.
func wrapEntry(raw json.RawMessage, entry Entry, h host) (json.RawMessage, error) {
	var rest map[string]json.RawMessage
	if err := json.Unmarshal(raw, &rest); err != nil {
		return nil, err
	}
	var address string
	was, err := started(raw, h)
	if err != nil {
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
			kind = cmp.Or(h.kind, "stdio")
		}
	default:
		return nil, errors.New("it has neither a command nor a url")
	}
	for _, name := range []string{"command", "args", "type", "url", "serverUrl", "httpUrl"} {
		delete(rest, name)
	}
	return entryJSON(entry, h, kind, rest), nil
}

// unwrapEntry takes the wrapper away again.
func unwrapEntry(raw json.RawMessage, h host) (json.RawMessage, error) {
	var rest map[string]json.RawMessage
	was, err := started(raw, h)
	if raw == nil || err != nil || json.Unmarshal(raw, &rest) != nil || !slices.Contains(was.Args, "mcp-wrap") {
		return nil, errors.New("it is not wrapped")
	}
	kind := text(rest["type"])
	for _, name := range []string{"command", "args", "type"} {
		delete(rest, name)
	}
	if i := slices.Index(was.Args, "--"); i >= 0 && i+1 < len(was.Args) {
		return entryJSON(Entry{was.Args[i+1], was.Args[i+2:]}, h, kind, rest), nil
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
		all = all.set("type", []byte(map[bool]string{true: `"remote"`, false: `"http"`}[h.list]))
	}
	all = all.set("url", address)
	for _, name := range sorted(rest) {
		all = all.set(name, rest[name])
	}
	value, err := all.text()
	return json.RawMessage(value), err
}
