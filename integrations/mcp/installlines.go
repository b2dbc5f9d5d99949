package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// kept begins the lines of an entry that the wrapper's lines stand for.
const kept = "#memoryd: "

// editTOML changes the lines of the entry that f gives, and no other byte.
func editTOML(text []byte, key string, f rewrite) ([]byte, error) {
	entries, err := readTOML(text, key)
	if err != nil {
		return nil, err
	}
	name, entry, err := f(entries, host{})
	if err != nil || bytes.Equal(entries[name], entry) {
		return text, err
	}
	lines, err := tomlLines(entry)
	if err != nil {
		return nil, err
	}
	header := tomlHeader(key, name)
	out, err := editTable(text, []string{key, name}, header, lines, entries[name] == nil)
	if err == nil {
		_, err = readTOML(out, key) // the entry may not fit into what is there
	}
	if err != nil {
		return nil, fmt.Errorf("the file stays unchanged: %w. Change it by hand:\n\n%s", err, header+"\n"+lines)
	}
	return out, nil
}

func readTOML(text []byte, key string) (entries map[string]json.RawMessage, err error) {
	var whole map[string]any
	if err := toml.Unmarshal(text, &whole); err != nil {
		return nil, err
	}
	entries = map[string]json.RawMessage{}
	tables, _ := whole[key].(map[string]any)
	for name, table := range tables {
		if entries[name], err = json.Marshal(table); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func tomlHeader(key, name string) string {
	quoted, _ := toml.Marshal(map[string]any{name: map[string]any{}}) // a text is always TOML
	return "[" + key + "." + strings.Trim(strings.TrimSpace(string(quoted)), "[]") + "]"
}

// tomlLines are the lines of an entry that say what is started; "" for no entry.
func tomlLines(entry json.RawMessage) (string, error) {
	var e struct {
		Entry
		URL string `json:"url" toml:"url,omitempty"`
	}
	if entry == nil {
		return "", nil
	}
	if err := json.Unmarshal(entry, &e); err != nil {
		return "", err
	}
	text, err := toml.Marshal(e)
	return string(text), err
}

// editTable gives a table other lines; "" takes the table away.
func editTable(text []byte, path []string, header, lines string, fresh bool) ([]byte, error) {
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	lines = strings.ReplaceAll(lines, "\n", end)
	if fresh { // begun by one line end, which goes with it
		head := header + end
		if len(text) > 0 {
			head = end + head
		}
		return slices.Concat(text, []byte(head+lines)), nil
	}
	all, err := statements(text)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(s statement) bool { return len(s.table) < 2 || !slices.Equal(s.table[:2], path) })
	if len(all) == 0 {
		return nil, errors.New("the entry is in a form that memoryd cannot edit")
	}
	if lines == "" {
		return withoutTables(text, all, end), nil
	}
	starts := slices.DeleteFunc(slices.Clone(all), func(s statement) bool {
		return len(s.table) != 2 || len(s.key) != 1 || !slices.Contains([]string{"command", "args", "url"}, s.key[0])
	})
	if len(starts) == 0 {
		return nil, errors.New("the entry is in a form that memoryd cannot edit")
	}
	wrapped := strings.Contains(lines, "mcp-wrap")
	restored := false
	out := slices.Clone(text[:starts[0].from])
	for i, s := range starts {
		if i == 0 && wrapped {
			out = append(out, lines...)
		}
		if wrapped {
			for line := range bytes.Lines(text[s.from:s.to]) {
				out = append(append(out, kept...), line...)
			}
		}
		next := all[len(all)-1].tail
		if i+1 < len(starts) {
			next = starts[i+1].from
		}
		rest := text[s.to:next]
		if !wrapped {
			rest, restored = unkept(rest, restored)
		}
		out = append(out, rest...)
	}
	if !wrapped && !restored { // of an earlier version, which kept nothing
		out = slices.Insert(out, starts[0].from, []byte(lines)...)
	}
	return append(out, text[all[len(all)-1].tail:]...), nil
}

// unkept brings back the lines that a wrapper stood for.
func unkept(text []byte, some bool) ([]byte, bool) {
	var out []byte
	for line := range bytes.Lines(text) {
		own, found := bytes.CutPrefix(line, []byte(kept))
		out, some = append(out, own...), some || found
	}
	return out, some
}

// withoutTables leaves out the statements of one entry, and the line end before it.
func withoutTables(text []byte, all []statement, end string) []byte {
	var out []byte
	at := 0
	for i := 0; i < len(all); {
		last := i
		for last+1 < len(all) && all[last+1].key != nil {
			last++
		}
		before := text[at:all[i].from]
		if last+1 == len(all) && all[last].to == len(text) || bytes.HasSuffix(before, []byte(end+end)) {
			before = bytes.TrimSuffix(before, []byte(end))
		}
		out, at, i = append(out, before...), all[last].to, last+1
	}
	return append(out, text[at:]...)
}

// statement is a table's header, whose key is nil, or a key with its value, in whole
// lines of a file. Its tail is where the next statement begins.
type statement struct {
	table, key     []string
	from, to, tail int
}

// statements finds those of a file that is TOML.
func statements(text []byte) (all []statement, err error) {
	var p unstable.Parser
	var table []string
	for p.Reset(text); p.NextExpression(); {
		s := statement{from: -1}
		for part := p.Expression().Key(); part.Next(); {
			if s.from < 0 {
				s.from = bytes.LastIndexByte(text[:part.Node().Raw.Offset], '\n') + 1
			}
			s.key = append(s.key, string(part.Node().Data))
		}
		if p.Expression().Kind != unstable.KeyValue {
			table, s.key = s.key, nil
		}
		s.table = table
		all = append(all, s)
	}
	for i := range all {
		s := &all[i]
		if s.tail = len(text); i+1 < len(all) {
			s.tail = all[i+1].from
		}
		s.to = s.from
		at := s.from
		for line := range bytes.Lines(text[s.from:s.tail]) { // what follows is blank, or says something
			at += len(line)
			if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
				s.to = at
			}
		}
	}
	return all, p.Error()
}

// editYAML puts memoryd's own entry, in lines of its own, first under the key of the
// servers, and changes no other byte.
func editYAML(text []byte, key string, f rewrite) ([]byte, error) {
	entries := map[string]json.RawMessage{}
	var file map[string]yaml.Node
	if err := yaml.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("it is not YAML and stays unchanged: %w", err)
	}
	var servers map[string]any
	if node, ok := file[key]; ok && node.Decode(&servers) != nil {
		return nil, fmt.Errorf("%s: it is not a map of servers", key)
	}
	for name := range servers {
		entries[name] = json.RawMessage(`null`)
	}
	_, entry, err := f(entries, host{})
	if err != nil {
		return nil, err
	}
	end := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		end = "\r\n"
	}
	head := key + ":" + end
	at := bytes.Index(append([]byte("\n"), text...), []byte("\n"+head))
	indent := "  " // as that of the first server
	if node, ok := file[key]; ok && len(node.Content) > 0 && node.Content[0].Column > 1 {
		indent = strings.Repeat(" ", node.Content[0].Column-1)
	}
	own := yamlLines(entry, indent, end)
	switch {
	case entry == nil && len(servers) == 1:
		return replaceOwn(text, indent, ownMark+end+head, "")
	case entry == nil:
		return replaceOwn(text, indent, "", "")
	case entries["memoryd"] != nil:
		return replaceOwn(text, indent, "", own)
	case at >= 0 && len(servers) > 0:
		at += len(head)
		return append(append(bytes.Clone(text[:at]), own...), text[at:]...), nil
	case file[key].Kind != 0:
		return nil, fmt.Errorf("%s is in a form that memoryd cannot edit; add to it:\n%s", key, own)
	case len(text) > 0 && text[len(text)-1] != '\n':
		return nil, errors.New("its last line has no line break; add one")
	}
	return append(bytes.Clone(text), ownMark+end+head+own...), nil
}

// replaceOwn puts lines in the place of memoryd's entry and of the head before it, if it
// stands there.
func replaceOwn(text []byte, indent, head, own string) ([]byte, error) {
	begin, length := ownLines(text, indent)
	if begin < 0 {
		return nil, errors.New("memoryd's entry is in a form that memoryd cannot edit")
	}
	before := bytes.TrimSuffix(text[:begin], []byte(head))
	return append(append(bytes.Clone(before), own...), text[begin+length:]...), nil
}

// ownMark stands before a key that install added.
const ownMark = "# added by memoryd"

// ownLines finds the entry of memoryd: from its name to the next line that stands no deeper.
func ownLines(text []byte, indent string) (begin, length int) {
	at := 0
	begin = -1
	for line := range bytes.Lines(text) {
		deep := len(line) - len(bytes.TrimLeft(line, " "))
		if begin >= 0 && deep <= len(indent) {
			return begin, at - begin
		}
		if bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte(indent+"memoryd:")) {
			begin = at
		}
		at += len(line)
	}
	return begin, at - begin
}

// yamlLines writes an entry as Goose has it; texts in JSON's form are YAML.
func yamlLines(entry json.RawMessage, indent, end string) string {
	var e Entry
	_ = json.Unmarshal(entry, &e) // it was written by entryJSON
	next := end + indent + indent
	return indent + "memoryd:" + next + strings.Join([]string{
		"name: memoryd", "type: stdio", "enabled: true", "cmd: " + string(jsonOf(e.Command)), "args: " + string(jsonOf(e.Args)), "timeout: 300",
	}, next) + end
}
