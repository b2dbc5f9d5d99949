package rules_test

import (
	"encoding/json"
	"testing"

	"memoryd"
	"memoryd/evaluate/rules"
)

// example is one call with the evaluation that it deserves.
type example struct {
	tool  string
	input any // marshalled; nil is {}
	out   string
	score float64
	rule  string // "" where any rule may decide
}

func (e *example) call(t *testing.T) *memoryd.Call {
	t.Helper()
	in := e.input
	if in == nil {
		in = map[string]any{}
	}
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return &memoryd.Call{
		ToolRef: memoryd.ToolRef{Workspace: "w", Tool: e.tool}, Input: raw, Output: e.out, Success: true, TokenCost: -1,
	}
}

// sh and q are inputs of shells and of tools that take a query.
func sh(command string) map[string]any { return map[string]any{"command": command} }
func q(query string) map[string]any    { return map[string]any{"query": query} }

// run judges each example without any history.
func run(t *testing.T, examples map[string]example) {
	t.Helper()
	j := rules.New()
	for name, e := range examples {
		t.Run(name, func(t *testing.T) {
			v := j.Judge(e.call(t), nil)
			if v.Score != e.score || e.rule != "" && v.Rule != e.rule {
				t.Errorf("score %v by %s, want %v by %s\noutput: %.300q\n%s", v.Score, v.Rule, e.score, e.rule, e.out, v.Evaluation.Evaluation)
			}
		})
	}
}
