package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

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
