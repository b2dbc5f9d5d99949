package config

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"memoryd"

	"go.yaml.in/yaml/v3"
)

// Problem is one fault of a configuration.
type Problem struct {
	// Line is where in the file; 0 means that it does not come from a line.
	Line int
	// Key is the dotted path of the setting, "" where there is none.
	Key string
	Msg string

	others []string // settings that may be the cause where the file does not hold Key
}

// String gives line, key and sentence.
func (p Problem) String() string {
	s := p.Msg
	if key := strings.TrimRight(p.Key, ".0123456789"); key != "" { // without the place in a list
		s = key + ": " + s
	}
	if p.Line > 0 {
		s = fmt.Sprintf("line %d: %s", p.Line, s)
	}
	return s
}

// locate finds the line of the setting that is to blame: the first that the file
// holds, else that of the section around it.
func (p *Problem) locate(file *yaml.Node) {
	p.Line = lineOf(file, p.Key)
	for _, key := range append([]string{p.Key}, p.others...) {
		if holds(file, key) {
			p.Line = lineOf(file, key)
			return
		}
	}
}

// Error is every fault of a configuration.
type Error struct {
	Source   string
	Problems []Problem
}

// Error gives one line a fault.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = e.Source + ": " + p.String()
	}
	return strings.Join(lines, "\n")
}

// Default is the built-in configuration.
func Default() (*Config, error) { return Parse(nil, "default.yaml", nil) }

// Load reads the file at path ("" means none) over the built-in configuration,
// and the environment, as os.Environ gives it, over both.
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

// Parse does what Load does with a file's text; source is what errors call it.
func Parse(text []byte, source string, environ []string) (*Config, error) {
	user, err := parseNode(text)
	if err != nil {
		return nil, &Error{Source: source, Problems: yamlProblems(err)}
	}
	base, err := parseNode(memoryd.DefaultConfig)
	if err != nil {
		return nil, fmt.Errorf("built-in configuration: %w", err)
	}
	problems := unknownKeys(user, typeOfConfig, "")
	if len(problems) > 0 {
		return nil, &Error{Source: source, Problems: problems}
	}
	inheritModels(base, user)
	merged := merge(base, user)
	applyEnvironment(merged, environ)
	var c Config
	if err := merged.Decode(&c); err != nil {
		return nil, &Error{Source: source, Problems: yamlProblems(err)}
	}
	if problems = validate(&c); len(problems) > 0 {
		for i := range problems {
			problems[i].locate(user)
		}
		return nil, &Error{Source: source, Problems: problems}
	}
	return &c, nil
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

// yamlProblems splits what the YAML package reports into lines and sentences.
func yamlProblems(err error) []Problem {
	texts := []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	if te, ok := errors.AsType[*yaml.TypeError](err); ok {
		texts = te.Errors
	}
	problems := make([]Problem, len(texts))
	for i, text := range texts {
		problems[i].Msg = text
		var line int
		if _, err := fmt.Sscanf(text, "line %d:", &line); err == nil {
			problems[i].Line = line
			problems[i].Msg = strings.TrimSpace(text[strings.IndexByte(text, ':')+1:])
		}
	}
	return problems
}
