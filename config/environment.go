package config

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// envPrefix starts the names of the environment's settings.
const envPrefix = "MEMORYD_"

// environment holds the settings that the environment makes: for each scalar its
// path in upper case with underscores, as in MEMORYD_STORE_SQLITE_DIR.
// OPENAI_BASE_URL stands for the base_url of the default model,
// OTEL_EXPORTER_OTLP_ENDPOINT for the collector of traces.
type environment struct {
	values map[string]string
	keys   map[string]string // the settings that were made, and by which variable
}

func newEnvironment(environ []string) *environment {
	e := &environment{values: map[string]string{}, keys: map[string]string{}}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		e.values[name] = value
	}
	for ours, theirs := range map[string]string{
		envPrefix + "LLM_DEFAULT_BASE_URL": "OPENAI_BASE_URL", envPrefix + "TRACE_OTLP_ENDPOINT": "OTEL_EXPORTER_OTLP_ENDPOINT",
	} {
		if _, set := e.values[ours]; !set && e.values[theirs] != "" {
			e.values[ours] = e.values[theirs]
		}
	}
	return e
}

// set puts the environment's values in the place of a tree's scalars and lists.
func (e *environment) set(n *yaml.Node, name, path string) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		key := n.Content[i].Value
		variable, full := name+"_"+strings.ToUpper(key), join(path, key)
		value, ok := e.values[variable]
		switch {
		case n.Content[i+1].Kind == yaml.MappingNode:
			e.set(n.Content[i+1], variable, full)
		case ok:
			e.keys[full], n.Content[i+1] = variable, valueLike(n.Content[i+1], value)
		}
	}
}

// valueLike is a variable's value in the place of a node: of a list it holds the
// members, separated by commas.
func valueLike(n *yaml.Node, value string) *yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for member := range strings.SplitSeq(value, ",") {
		if member = strings.TrimSpace(member); member != "" {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: member})
		}
	}
	return list
}

// blame names the variable that a problem comes from, if it comes from one.
func (e *environment) blame(p *Problem) {
	if p.Variable == "" {
		p.Variable = e.keys[p.Key]
	}
	if p.Variable != "" {
		p.Line = 0
	}
}

// gone refuses variables of settings that are no more.
func (e *environment) gone() (problems []Problem) {
	for _, key := range slices.Sorted(maps.Keys(goneKeys())) {
		name := envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "*", "DEFAULT").Replace(key))
		for _, variable := range slices.Sorted(maps.Keys(e.values)) {
			section := !strings.Contains(key, ".") && strings.HasPrefix(variable, name+"_")
			if variable == name || section {
				problems = append(problems, Problem{Variable: variable, Msg: "is gone: " + removed(key)})
			}
		}
	}
	return problems
}

// notSettings are variables of the command line and of tests.
var notSettings = []string{"ADMIN_KEY", "CONFIG", "LISTEN", "DATA", "URL", "KEY", "WORKSPACE", "JOURNAL", "REMOTE_TOKEN", "NO_DAEMON"}

// unused are the variables that look like settings and are none.
func (e *environment) unused() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		rest, ours := strings.CutPrefix(name, envPrefix)
		if ours && !slices.Contains(notSettings, rest) && !strings.HasPrefix(rest, "TEST_") &&
			!slices.Contains(slices.Collect(maps.Values(e.keys)), name) {
			names = append(names, name)
		}
	}
	return names
}
