package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"memoryd"

	"go.yaml.in/yaml/v3"
)

// Problem is one error in a configuration.
type Problem struct {
	// Line is the line in the file; 0 if the problem does not come from the file.
	Line int
	// Variable is the environment variable that caused the problem; "" if none did.
	Variable string
	// Key is the dotted path of the setting; "" if there is none.
	Key string
	Msg string

	others []string // settings that may be the cause where the file does not hold Key
}

// String returns the line or variable, the key and the message.
func (p Problem) String() string {
	s := p.Msg
	if key := strings.TrimRight(p.Key, ".0123456789"); key != "" { // without the place in a list
		s = key + ": " + s
	}
	switch {
	case p.Variable != "":
		s = p.Variable + ": " + s
	case p.Line > 0:
		s = fmt.Sprintf("line %d: %s", p.Line, s)
	}
	return s
}

// Error lists all problems of a configuration.
type Error struct {
	Source   string
	Problems []Problem
}

// Error returns one line per problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Source + ": " + p.String()
		if p.Variable != "" {
			lines[i] = "environment: " + p.String()
		}
	}
	return strings.Join(lines, "\n")
}

// Default returns the built-in configuration.
func Default() (*Config, error) { return Parse(nil, "default.yaml", nil) }

// Load reads the built-in configuration, the file at path ("" means no file) and the environment,
// in the form of os.Environ. Later ones override earlier ones.
func Load(path string, environ []string) (*Config, error) {
	if path == "" {
		return Parse(nil, "environment", environ)
	}
	text, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	return Parse(text, path, environ)
}

// Parse is Load for the text of a file; errors call the file source.
func Parse(text []byte, source string, environ []string) (*Config, error) {
	user, err := parseNode(text)
	if err != nil {
		return nil, &Error{Source: source, Problems: []Problem{yamlProblem(err)}}
	}
	merged, err := parseNode(memoryd.DefaultConfig)
	if err != nil {
		return nil, fmt.Errorf("built-in configuration: %w", err)
	}
	problems := check(user, typeOfConfig, "", false)
	inheritModels(merged, user)
	merged = merge(merged, user)
	env := newEnvironment(environ)
	problems = append(problems, env.gone()...)
	env.set(merged, strings.TrimSuffix(envPrefix, "_"), "")
	problems = append(problems, check(merged, typeOfConfig, "", true)...)
	c := Config{Unused: env.unused(), source: source, file: user}
	if err := merged.Decode(&c); err != nil && len(problems) == 0 {
		problems = append(problems, yamlProblem(err))
	}
	faulty := map[string]bool{} // settings of another type than theirs, about which nothing more can be said
	for _, p := range problems {
		faulty[p.Key] = true
	}
	for _, p := range validate(&c) {
		section, _, _ := strings.Cut(p.Key, ".")
		if !faulty[p.Key] && !faulty[section] {
			faulty[p.Key] = true // one sentence is enough
			p.locate(user)
			problems = append(problems, p)
		}
	}
	if len(problems) == 0 {
		return &c, nil
	}
	for i := range problems {
		env.blame(&problems[i])
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return a.Line - b.Line })
	return nil, &Error{Source: source, Problems: problems}
}

// Fault returns an error with the line of a setting that the program cannot use. The text of err
// begins with the setting's name within the section.
func (c *Config) Fault(section string, err error) error {
	p := problemOf(section, err)
	p.locate(c.file)
	return &Error{Source: c.source, Problems: []Problem{p}}
}

// locate finds the line of the setting that is to blame: the first that the file
// holds, else that of the section around it.
func (p *Problem) locate(file *yaml.Node) {
	p.Line, _ = lineOf(file, p.Key)
	for _, key := range append([]string{p.Key}, p.others...) {
		if line, held := lineOf(file, key); held {
			p.Line = line
			return
		}
	}
}

// parseNode reads one YAML document whose root is a mapping; no text is an
// empty one.
func parseNode(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("line %d: the configuration must be a mapping of settings", root.Line)
	}
	return root, nil
}

// wrongType says what a setting of a type must be, where a value is none.
func wrongType(n *yaml.Node, t reflect.Type) string {
	err := n.Decode(reflect.New(t).Interface())
	if _, ok := errors.AsType[*yaml.TypeError](err); err != nil && !ok {
		return yamlProblem(err).Msg
	}
	whole := t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64 && t != typeOfDuration
	if err == nil && (!whole || n.ShortTag() != "!!float") { // which would be cut
		return ""
	}
	if n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice {
		for _, member := range n.Content {
			if msg := wrongType(member, t.Elem()); msg != "" {
				return msg
			}
		}
	}
	value := cmp.Or(map[yaml.Kind]string{yaml.SequenceNode: "a list", yaml.MappingNode: "a mapping"}[n.Kind], n.Value)
	if len(value) > 10 {
		value = value[:7] + "..."
	}
	must := cmp.Or(map[reflect.Kind]string{
		reflect.Float64: "a number", reflect.Bool: "true or false", reflect.String: "a text", reflect.Slice: "a list",
	}[t.Kind()], "a mapping of settings")
	switch {
	case whole:
		must = "a whole number"
	case t == typeOfDuration && n.ShortTag() == "!!int":
		must = fmt.Sprintf("a duration with its unit, such as %ss", value)
	case t == typeOfDuration:
		must = "a duration such as 250ms, 30s or 5m"
	}
	return fmt.Sprintf("must be %s, got %s", must, value)
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// yamlProblem takes what the YAML package reports apart.
func yamlProblem(err error) (p Problem) {
	p.Msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(p.Msg); m != nil {
		_, _ = fmt.Sscan(m[1], &p.Line)
		p.Msg = p.Msg[len(m[0]):]
	}
	p.Msg = strings.Replace(p.Msg, "found character that cannot start any token",
		"no value can begin with this character; indent with spaces, not tabs", 1)
	return p
}

// typeOfConfig and typeOfNode are what trees are decoded into, typeOfDuration values.
var (
	typeOfConfig   = reflect.TypeFor[Config]()
	typeOfNode     = reflect.TypeFor[yaml.Node]()
	typeOfDuration = reflect.TypeFor[time.Duration]()
)
