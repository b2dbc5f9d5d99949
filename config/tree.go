package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	typeOfConfig = reflect.TypeFor[Config]()
	typeOfNode   = reflect.TypeFor[yaml.Node]()
)

// unknownKeys walks a tree beside the type that it will be decoded into and
// reports every key that the type has no field for, and every key given twice.
func unknownKeys(n *yaml.Node, t reflect.Type, path string) []Problem {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind != yaml.MappingNode || t == typeOfNode || (t.Kind() != reflect.Struct && t.Kind() != reflect.Map) {
		return nil
	}
	var problems []Problem
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		full := join(path, key.Value)
		if seen[key.Value] {
			problems = append(problems, Problem{Line: key.Line, Key: full, Msg: "given twice"})
			continue
		}
		seen[key.Value] = true
		if t.Kind() == reflect.Map {
			problems = append(problems, unknownKeys(value, t.Elem(), full)...)
			continue
		}
		field, ok := fieldNamed(t, key.Value)
		if !ok {
			problems = append(problems, Problem{Line: key.Line, Key: full, Msg: "unknown key"})
			continue
		}
		problems = append(problems, unknownKeys(value, field, full)...)
	}
	return problems
}

// fieldNamed finds the type of the field that a YAML key is decoded into.
func fieldNamed(t reflect.Type, key string) (reflect.Type, bool) {
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == key && name != "-" {
			return f.Type, true
		}
		if strings.Contains(options, "inline") {
			if inner, ok := fieldNamed(f.Type, key); ok {
				return inner, true
			}
		}
	}
	return nil, false
}

// decodeStrict decodes a tree into a struct, refusing unknown keys.
func decodeStrict(n *yaml.Node, into any) error {
	if n.IsZero() {
		return nil
	}
	problems := unknownKeys(n, reflect.TypeOf(into), "params")
	if len(problems) > 0 {
		return fmt.Errorf("%s", problems[0])
	}
	if err := n.Decode(into); err != nil {
		return fmt.Errorf("params: %s", yamlProblems(err)[0])
	}
	return nil
}

// merge lays over on top of base: mappings join key by key, anything else is
// replaced as a whole. A null leaves what base has.
func merge(base, over *yaml.Node) *yaml.Node {
	if over.Tag == "!!null" {
		return base
	}
	if base.Kind != yaml.MappingNode || over.Kind != yaml.MappingNode {
		return over
	}
	for i := 0; i+1 < len(over.Content); i += 2 {
		key, value := over.Content[i], over.Content[i+1]
		if at := indexOf(base, key.Value); at >= 0 {
			base.Content[at] = merge(base.Content[at], value)
		} else {
			base.Content = append(base.Content, key, value)
		}
	}
	return base
}

// inheritModels gives each model that the user adds the built-in settings to
// start from, as the default one has them.
func inheritModels(base, user *yaml.Node) {
	at, from := indexOf(user, "llm"), indexOf(base, "llm")
	if at < 0 || from < 0 {
		return
	}
	builtIn := base.Content[from]
	settings := indexOf(builtIn, "default")
	added := user.Content[at]
	for i := 0; i+1 < len(added.Content) && added.Kind == yaml.MappingNode; i += 2 {
		if key := added.Content[i]; indexOf(builtIn, key.Value) < 0 {
			builtIn.Content = append(builtIn.Content, key, clone(builtIn.Content[settings]))
		}
	}
}

func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, clone(child))
	}
	return &c
}

// Keys lists the dotted paths of all settings that the types of the
// configuration know; "*" stands for a name that the user chooses.
func Keys() []string { return keysOf(typeOfConfig, "") }

func keysOf(t reflect.Type, path string) []string {
	switch {
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return keysOf(t.Elem(), join(path, "*"))
	case t.Kind() != reflect.Struct || t == typeOfNode:
		return []string{path}
	}
	var keys []string
	for f := range t.Fields() {
		switch name, options, _ := strings.Cut(f.Tag.Get("yaml"), ","); {
		case strings.Contains(options, "inline"):
			keys = append(keys, keysOf(f.Type, path)...)
		case name != "" && name != "-":
			keys = append(keys, keysOf(f.Type, join(path, name))...)
		}
	}
	return keys
}

// indexOf is where in a mapping's content the value of key stands, or -1.
func indexOf(n *yaml.Node, key string) int {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return i + 1
			}
		}
	}
	return -1
}

// lineOf finds the line of the setting, or of the nearest one above it, in a
// tree; 0 when the tree says nothing of it. A number is a place in a list.
func lineOf(n *yaml.Node, key string) int {
	line := 0
	for part := range strings.SplitSeq(key, ".") {
		if at, err := strconv.Atoi(part); err == nil && n.Kind == yaml.SequenceNode && at < len(n.Content) {
			line, n = n.Content[at].Line, n.Content[at]
			continue
		}
		at := indexOf(n, part)
		if at < 0 {
			return line
		}
		line, n = n.Content[at-1].Line, n.Content[at]
	}
	return line
}

// holds reports whether a tree holds the setting, or the list that it is a place
// in.
func holds(n *yaml.Node, key string) bool {
	for part := range strings.SplitSeq(key, ".") {
		if n.Kind == yaml.SequenceNode {
			return true
		}
		at := indexOf(n, part)
		if at < 0 {
			return false
		}
		n = n.Content[at]
	}
	return true
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// envPrefix starts the names of the environment's settings.
const envPrefix = "MEMORYD_"

// applyEnvironment sets each scalar of the tree for which the environment has a
// variable: its path in upper case with underscores, as in
// MEMORYD_STORE_SQLITE_DIR. OPENAI_BASE_URL stands for the base_url of the
// default model, OTEL_EXPORTER_OTLP_ENDPOINT for the collector of traces.
func applyEnvironment(n *yaml.Node, environ []string) {
	env := map[string]string{}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	for ours, theirs := range map[string]string{
		envPrefix + "LLM_DEFAULT_BASE_URL": "OPENAI_BASE_URL", envPrefix + "TRACE_OTLP_ENDPOINT": "OTEL_EXPORTER_OTLP_ENDPOINT",
	} {
		if _, set := env[ours]; !set && env[theirs] != "" {
			env[ours] = env[theirs]
		}
	}
	setLeaves(n, envPrefix[:len(envPrefix)-1], env)
}

func setLeaves(n *yaml.Node, path string, env map[string]string) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		name := path + "_" + strings.ToUpper(n.Content[i].Value)
		if n.Content[i+1].Kind == yaml.MappingNode {
			setLeaves(n.Content[i+1], name, env)
		} else if value, ok := env[name]; ok {
			n.Content[i+1] = &yaml.Node{Kind: yaml.ScalarNode, Value: value}
		}
	}
}
